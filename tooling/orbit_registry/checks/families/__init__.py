"""The checks, one module a family; each is found by standing here, as a function under `check`."""
