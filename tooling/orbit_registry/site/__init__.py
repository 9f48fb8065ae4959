"""The published site: stage, generate, expand, check; it changes no record and no document."""
