"""Counts what the event log holds: what agents were shown, how often nothing, what they opened, what it cost."""
