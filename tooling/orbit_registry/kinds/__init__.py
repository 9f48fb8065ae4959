"""Kinds of records as data: one folder each, and the table that loads them; no kind is named in engine code."""
