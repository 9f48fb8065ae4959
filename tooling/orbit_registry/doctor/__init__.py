"""Examines a workspace and its hooks, and says of each part whether it works and what to do where it does not."""
