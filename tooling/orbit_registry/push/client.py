"""The client, for a committed `.orbit/hook.sh` that an earlier version wrote:
it imports this name.
"""

from orbit_registry.hook.client import main

__all__ = ["main"]
