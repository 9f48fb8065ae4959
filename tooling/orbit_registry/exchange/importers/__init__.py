"""Importers of what other tools wrote, one module a tool."""
