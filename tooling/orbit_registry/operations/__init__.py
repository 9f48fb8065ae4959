"""What commands do to the collection: adopt, number, link, vote, supersede, verify, merge."""
