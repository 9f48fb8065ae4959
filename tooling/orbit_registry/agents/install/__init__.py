"""Installation, removal and trial of the hook in agents' settings."""
