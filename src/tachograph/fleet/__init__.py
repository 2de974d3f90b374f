"""All sessions of a store at once: the catalogue, and what is asked of it.

The catalogue holds what the envelopes say (``docs/reference/catalogue.md``), never content, as Parquet files beside the sessions. It is
derived: made anew from sessions and ledger at any time, signed by nobody, and no evidence.
"""
