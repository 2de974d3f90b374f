"""Readers of signals: monitors, pagers and logs, at the edge like stores and importers."""
