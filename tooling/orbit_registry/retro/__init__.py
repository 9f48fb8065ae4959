"""Retros, failures, notes and records that a program keeps."""
