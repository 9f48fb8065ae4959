"""Records that say the same (6xx): one module a check, found by `checks.catalogue`."""
