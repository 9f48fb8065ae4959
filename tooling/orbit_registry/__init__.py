"""Orbit: decisions and learnings kept as reviewed files in git.

Imports nothing, so that the push client starts at the interpreter's own speed; see `registry` for
the facade.
"""
