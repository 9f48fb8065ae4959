"""What several commands ask for: a reason, and a kind by a word."""

from dataclasses import replace

import click

from orbit_registry.cli.output import may_ask
from orbit_registry.errors import UsageError
from orbit_registry.registry import Registry
from orbit_registry.workspace.author import Review


def with_reason(review: Review, output: str) -> Review:
    """Return the review of a rejection; a terminal asks for a missing reason."""
    if review.reason:
        return review
    if not may_ask(output):
        raise UsageError("a rejection needs a reason", hint='--reason "the linter says so already"')
    return replace(review, reason=" ".join(click.prompt("Why").split()))


def kind_name(registry: Registry, word: str | None) -> str | None:
    """Return the kind that a person names; None if none is named."""
    return None if word is None else registry.workspace.kinds.named(word).name
