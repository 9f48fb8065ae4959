"""Retros, failures, notes and records kept by programs."""
