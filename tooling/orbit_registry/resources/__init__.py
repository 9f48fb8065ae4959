"""Resources: texts that are whole files, cut into chunks for search, taken over, brought up to date and run."""
