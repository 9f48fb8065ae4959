"""Names struck out of texts: every spelling of a name is found, and nothing that only looks like one."""

from __future__ import annotations

import pytest

from orbit_registry.text.masking import MASK, Names


@pytest.mark.parametrize(
    "text",
    [
        *("ADR-0005", "adr-5", "ADR 5", "ADR0005", "adr_0005", "ADR #5"),
        *(
            "Use a secret vault",
            "use-a-secret-vault",
            "Use a\nsecret  vault",
            "use%20a%20secret%20vault",
            "Use `a secret` vault",
        ),
        *("使用秘密", "L-7k3fq", "l-7K3FQ"),
    ],
)
def test_a_name_is_found_in_every_spelling(text: str) -> None:
    """Case, zeros before a number, what parts the words and how an address escapes it make no difference."""
    names = Names(["ADR-0005", "Use a secret vault", "使用秘密", "L-7k3fq"])
    assert names.masked(f"see {text}, then") == f"see {MASK}, then"


@pytest.mark.parametrize(
    "text",
    [
        "ADR-0055",
        "ADR-50",
        "MADR-0005",
        "Use a secret vaults",
        "Use a secret",
        "L-7k3fqx",
        "a secret vault",
        "ADR — see page 5",
    ],
)
def test_what_only_looks_like_a_name_stays(text: str) -> None:
    """A longer word, a longer number, a part of a name and words that stand far apart are other things."""
    names = Names(["ADR-0005", "Use a secret vault", "L-7k3fq"])
    assert names.masked(text) is text


def test_a_name_that_stays_wins_where_it_is_longer() -> None:
    """`core/ADR-005` is the earlier name of another record than ADR-0005; the two do not touch."""
    names = Names(["ADR-0005"], ["core/ADR-005", "ADR-0004"])
    assert names.masked("core/ADR-005, ADR-005, ADR-0004 ADR-0005") == f"core/ADR-005, {MASK}, ADR-0004 {MASK}"
