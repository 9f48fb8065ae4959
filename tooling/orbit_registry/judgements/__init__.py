"""Judgements: one pure function for each question that several commands answer."""
