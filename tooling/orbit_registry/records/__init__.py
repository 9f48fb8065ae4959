"""Values that hold records and what is said of them; nothing here reads or writes a file."""
