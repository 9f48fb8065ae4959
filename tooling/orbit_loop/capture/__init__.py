"""Pending learnings from the transcripts of sessions."""
