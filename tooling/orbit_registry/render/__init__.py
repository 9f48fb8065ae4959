"""What verbs answer, as data and as text, the same for every door; nothing here asks, decides or prints."""
