"""Review of pending records, proposals and consolidation."""
