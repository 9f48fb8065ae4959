"""Coding agents that Orbit works with, one file each;
the hook loads the file of the agent that starts it.
"""
