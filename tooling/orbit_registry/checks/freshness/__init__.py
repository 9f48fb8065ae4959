"""Whether records still hold (8xx): one module a check, found by `checks.catalogue`."""
