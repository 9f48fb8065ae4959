"""MCP server: tools, resources and prompts.

Every caller is an agent: nothing goes live here, and live records do not change.
"""
