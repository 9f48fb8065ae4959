"""Decisions and the documents that hold their prose: finding, reading, adding; statuses are `lifecycle`'s."""
