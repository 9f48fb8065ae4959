"""Links, supersession and citations (3xx): one module a check, found by `checks.catalogue`."""
