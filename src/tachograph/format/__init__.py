"""Layer 1: the on-disk and on-wire formats, pure. ``docs/format/v1.md`` is the specification that this code follows."""
