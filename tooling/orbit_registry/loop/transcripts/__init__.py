"""Reads back what agents keep of their sessions: which records stand in what the model was given, and no other text."""
