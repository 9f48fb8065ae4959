"""The command line: each command parses, makes one call of the registry and prints; no work is done here."""
