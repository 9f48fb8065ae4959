"""Text in, values with line and column out; nothing here opens a file or knows what a record is."""
