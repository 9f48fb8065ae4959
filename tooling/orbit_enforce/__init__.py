"""Checks that records state in `checks:`: closed kinds, verified examples, no code.

Imported if a record has one.
"""

from orbit_registry.seams import Extra

extra = Extra(
    "enforce", operations=("orbit_enforce.operations",), checks=("orbit_enforce.enforcement",)
)
