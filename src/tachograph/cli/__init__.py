"""Layer 8: the command line. ``app.py`` is the only place that turns errors into exit codes; each verb is a file of its name."""
