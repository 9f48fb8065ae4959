"""What records rest on, on disk and in git: hashed, looked for, moved, verified; what is stale, others judge."""
