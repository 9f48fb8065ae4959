"""Replays a history against the one chooser: what would have been shown, and whether the commit spoke of it."""
