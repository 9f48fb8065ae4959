"""A project on disk: its folders, configuration, files, locks, git and cache."""
