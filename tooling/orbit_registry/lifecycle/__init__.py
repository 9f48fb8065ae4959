"""What becomes of a decision: built, due again, touched by a new one, or never written down.

One file has one judgement: evidence in, verdict with its reasons out. None changes a record.
"""
