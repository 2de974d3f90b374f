"""Causes, derived: named, small analyses over a record, each with its evidence and how sure it is."""
