"""Text formats: YAML, Markdown, globs, diffs and ADR documents; no file is opened here."""
