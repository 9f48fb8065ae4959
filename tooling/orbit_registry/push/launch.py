"""Start the hook for settings that an earlier version wrote: they name this file by its path."""

import sys

sys.path.append(__file__.rpartition("/orbit_registry/")[0])

import orbit_registry.hook.launch  # noqa: F401
