"""Stores: where bytes are kept. Reached through ``core.ports.Store`` only; they know no layout and no meaning."""
