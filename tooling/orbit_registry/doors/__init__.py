"""The doors: the table of operations, and the command line, MCP and doctor on it."""
