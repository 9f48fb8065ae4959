"""ADR documents: reading them in every usual format, and edits that leave other bytes alone."""
