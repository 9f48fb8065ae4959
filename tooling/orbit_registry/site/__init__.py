"""Published site of a registry."""
