"""Writes what other programs read: one file a format; it reads the push index and never a record's file."""
