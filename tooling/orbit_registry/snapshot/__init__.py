"""The snapshot: every record as tables that anyone can ask in SQL; derived, and built again when it is gone."""
