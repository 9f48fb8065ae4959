"""The MCP door: tools, resources and prompts over the registry; only `server` and `http` know the protocol's SDK.

Whoever calls is an agent, whatever the environment says: nothing comes into force here, and nothing in force changes.
"""
