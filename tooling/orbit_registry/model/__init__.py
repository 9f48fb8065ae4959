"""Values of the registry: kinds, records, ids, scopes, votes, freshness and findings."""
