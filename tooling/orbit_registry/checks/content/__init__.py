"""What a record says (4xx): one module a check, found by `checks.catalogue`."""
