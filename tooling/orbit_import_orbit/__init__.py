"""Records in the layout of another tool that is called Orbit, and in that of old versions."""

from orbit_registry.seams import Extra

extra = Extra(
    "import-orbit",
    operations=("orbit_import_orbit.operations",),
    importers=("orbit_import_orbit.importer",),
)
