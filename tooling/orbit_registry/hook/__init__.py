"""Hook of coding agents: choose and print the records that apply;
built-in modules only, it runs at every tool call.
"""
