"""Command line: each command parses its options, calls the registry and prints."""
