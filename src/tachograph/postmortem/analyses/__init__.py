"""Causes, derived: named analyses over a record, each with its evidence and how sure it is. ``registry.py`` lists them; a module that it does not list is a
part of the one that asks it, and what several of them share is in ``meaning`` and ``language``."""
