"""Which records apply to a path: the hook index, matches and coverage."""
