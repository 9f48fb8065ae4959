"""What becomes of a decision: built or not, due again, touched by a new one, or never written down.

One file has one judgement: evidence in, verdict with its reasons out. None of them changes a record.
"""
