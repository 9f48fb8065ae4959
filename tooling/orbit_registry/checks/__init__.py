"""The gate: pure checks over one context, one file for each family;
`checks.context` gathers what they need.
"""
