"""`python -m orbit_registry`: the command `orbit`."""

from orbit_registry.doors.cli.main import main

main()
