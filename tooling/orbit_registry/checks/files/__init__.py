"""Files and schema (1xx): one module a check, found by `checks.catalogue`."""
