"""Puts the right record before an agent; all but `compile.py` need the standard library alone."""
