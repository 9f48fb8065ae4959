"""The checks, a module a family, found by `checks.catalogue`: by standing here as a `Check`."""
