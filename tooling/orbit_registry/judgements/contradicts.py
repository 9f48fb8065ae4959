"""Whether one of two sentences that are alike says the opposite of the other."""

from orbit_registry.formats.wording import Contrast, Words, contrast, without_citations


def contradicts(first: str, second: str) -> Contrast | None:
    """Return the denial, number, name or order in which two sentences differ; None if in none.

    The records that they cite in brackets are no part of what they say.
    """
    return contrast(Words.of(without_citations(first)), Words.of(without_citations(second)))
