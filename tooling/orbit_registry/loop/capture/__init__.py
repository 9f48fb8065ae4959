"""Capture: from transcripts of sessions to pending learnings; nothing here brings a record into force by itself."""
