"""What the event log and the history of a repository come to."""
