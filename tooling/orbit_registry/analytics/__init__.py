"""Reports on the event log and on the history of a repository."""
