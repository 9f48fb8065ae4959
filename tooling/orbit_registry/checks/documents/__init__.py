"""A record and its document (7xx): one module a check, found by `checks.catalogue`."""
