"""What the lines of each agent's transcripts mean."""
