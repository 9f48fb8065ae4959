"""What waits for a person: the queue and proposals."""
