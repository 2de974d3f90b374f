"""Layer 0: facts. Events, errors, identifiers and ports; no I/O, no clock, no entropy."""
