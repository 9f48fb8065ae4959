"""Real agents, each with a model on loopback: nothing of ours stands in for them.

`nox -s agents` brings them.
"""
