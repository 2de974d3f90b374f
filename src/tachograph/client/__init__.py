"""What rides in the agent's process: taps, and one socket to the host.

Standard library only, Python 3.9 to 3.14, and nothing of the rest of tachograph: it runs inside other people's virtual environments.
It keeps no file, prints nothing, and never breaks its agent: when the host is gone, calls go on unrecorded (or the agent stops,
where ``--on-host-loss stop`` was asked for).
"""
