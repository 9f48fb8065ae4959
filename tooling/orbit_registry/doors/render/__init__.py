"""Answers as data and as text."""
