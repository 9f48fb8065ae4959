"""Looking back on a run: what is said of it, what events and transcripts tell of it, and what is kept."""
