"""Installs, removes and tries hooks of coding agents; what a hook does when it runs is the push package's work."""
