"""The gate: pure checks over one context, one file a check; what they need is gathered by `store.facts`."""
