"""Layer 5: the process that serves the agent's clients. The same loop records and replays; only the ``Driver`` behind it differs."""
