"""OpenCode's hooks: its plugin, `hooks/opencode_plugin.js`, speaks as any tool may."""

from orbit_registry.hook.dialects.generic import read, reply

__all__ = ["read", "reply"]
