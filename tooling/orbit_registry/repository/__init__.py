"""Records and documents in files: read, write, number, guard."""
