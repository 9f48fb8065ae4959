"""Snapshot: all records as DuckDB tables, rebuilt from the files when it is missing."""
