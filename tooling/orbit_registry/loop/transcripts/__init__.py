"""Reads back what agents keep of their sessions: the records that the model was given, what was said and done."""
