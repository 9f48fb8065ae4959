"""Records for decisions that stand in documents; the documents stay as they are, and decide what a record says."""
