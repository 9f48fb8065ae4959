"""Kinds of checks, one file each: the file's `KIND` is found by its place."""
