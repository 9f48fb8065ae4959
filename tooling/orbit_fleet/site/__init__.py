"""Site of a lake: a page for each record, lists over all repositories, and one search."""
