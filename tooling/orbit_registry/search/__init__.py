"""How texts are compared and found: terms, similarity, ranking; nothing here opens a file."""
