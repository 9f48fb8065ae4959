"""Ids and legacy ids (2xx): one module a check, found by `checks.catalogue`."""
