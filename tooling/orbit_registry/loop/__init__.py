"""What agents are told and what comes of it; nothing here decides what applies."""
