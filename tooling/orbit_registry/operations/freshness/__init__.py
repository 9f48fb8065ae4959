"""Freshness of records: fingerprints, evaluation, renames and `orbit verify`."""
