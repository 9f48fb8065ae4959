"""Merge of records, decision logs and votes from two branches."""
