"""The client, for a committed `.orbit/hook.sh` of an earlier version, which imports this name."""

from orbit_registry.hook.client import main

__all__ = ["main"]
