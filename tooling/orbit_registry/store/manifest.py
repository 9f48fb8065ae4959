"""The stamp of a file, and compact JSON."""

from __future__ import annotations

import json

Stamp = tuple[int, int, int, int]
"""Modification time and change time (nanoseconds), size (bytes), inode."""
compact = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
