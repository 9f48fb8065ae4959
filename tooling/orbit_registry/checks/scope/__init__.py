"""Where a record applies (5xx): one module a check, found by `checks.catalogue`."""
