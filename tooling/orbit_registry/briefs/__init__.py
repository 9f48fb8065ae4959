"""Briefs for agents and planners before work."""
