"""Everything that reads or writes `.orbit/` and git; nothing above this package opens a file of the store."""
