"""Health of a workspace and its hooks."""
