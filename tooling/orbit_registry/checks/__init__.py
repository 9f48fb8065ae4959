"""The gate: pure checks over one context, one file a family; what they need is gathered by `store.facts`."""
