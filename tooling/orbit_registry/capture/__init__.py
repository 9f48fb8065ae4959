"""Transcripts of sessions → pending learnings."""
