"""`python -m orbit_registry`: the command `orbit`."""

from orbit_registry.cli.main import main

main()
