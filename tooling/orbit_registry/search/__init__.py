"""Search: terms, similarity, ranking, suggested scopes."""
