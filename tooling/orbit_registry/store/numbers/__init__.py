"""Sequence numbers: which is the next one, and what follows when a record gets another."""
