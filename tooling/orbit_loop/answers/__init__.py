"""What the commands and tools of the loop answer, one file for each command."""
