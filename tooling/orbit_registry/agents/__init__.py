"""Agents that Orbit works with."""
