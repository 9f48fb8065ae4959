"""Reports on the event log and on the history of a repository."""

from orbit_registry.seams import Extra

extra = Extra(
    "measure", operations=("orbit_measure.operations",), outcome="orbit_measure.pairs:outcome"
)
