"""Checks that records state in `checks:`: closed kinds, verified examples, no code.

Imported if a record has one.
"""
