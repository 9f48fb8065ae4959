"""Names struck out of texts: every spelling of a name is found,
and nothing that only looks like one.
"""

import re

import pytest

from orbit_registry.snapshot.redact import MASK, REDACTED, NameMask, redact_pattern


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
    names = NameMask(["ADR-0005", "Use a secret vault", "使用秘密", "L-7k3fq"])
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
def test_similar_names_stay(text: str) -> None:
    names = NameMask(["ADR-0005", "Use a secret vault", "L-7k3fq"])
    assert names.masked(text) is text


def test_a_name_that_stays_wins_where_it_is_longer() -> None:
    names = NameMask(["ADR-0005"], ["core/ADR-005", "ADR-0004"])
    assert (
        names.masked("core/ADR-005, ADR-005, ADR-0004 ADR-0005")
        == f"core/ADR-005, {MASK}, ADR-0004 {MASK}"
    )


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        *(
            (f"see {name}, then", f"see {MASK}, then")
            for name in (
                *(
                    "L&#45;c2d75",
                    "L-c2d&#55;5",
                    "L-c2d&#x37;5",
                    "Red&#115;tone",
                    "Red&shy;stone",
                    "Red%73tone",
                ),
                *(
                    "Red\u00adstone",
                    "Red\u200bstone",
                    "Red&ZeroWidthSpace;stone",
                    "Red\u2060sto\ufeffne",
                    "R&#x65;dstone",
                ),
                *(
                    "Acquire&nbsp;Vulcan&nbsp;Robotics",
                    "Acquire&#160;Vul&shy;can&#xA0;Robotics",
                    "Red<!-- -->stone",
                ),
                *(
                    "Red**ston**e",
                    "Acquire **Vul**can Robotics",
                    "Acquire [Vulcan](https://example.org/a_(b)) Robotics",
                ),
            )
        ),
        ("see <b>Redstone</b>", f"see <b>{MASK}</b>"),
        ("see <b>L</b>-c2d75", f"see <b>{MASK}</b>"),
        ("see <b>Red</b>stone", f"see <b>{MASK}</b>"),
        ("Red<span title='x'>sto</span>ne", f"{MASK}<span></span>"),
        ("Acquire <em class='a'>Vulcan</em> Robotics", f"{MASK}<em></em>"),
        ("[Acquire Vulcan](https://a.example/b) Robotics", f"[{MASK}](https://a.example/b)"),
        ("[Acquire Vulcan][1] Robotics", f"[{MASK}][1]"),
        (
            "<a href='/L-c2d75'>Acquire <b>Vulcan</b></a> Robotics",
            f"<a href='/{MASK}'>{MASK}<b></b></a>",
        ),
    ],
)
def test_a_name_is_found_as_it_is_shown(text: str, redacted: str) -> None:
    names = NameMask(["L-c2d75", "Redstone", "Acquire Vulcan Robotics"])
    assert names.masked(text) == redacted
    assert names.masked(redacted) is redacted


@pytest.mark.parametrize(
    "text",
    ["L&#45;c2d755", "Red&nbsp;stone", "Red<br>stone", "Acquire&shy; [it](u)", "Red</p><p>stone"],
)
def test_words_shown_apart_are_no_name(text: str) -> None:
    names = NameMask(["L-c2d75", "Redstone", "Acquire Vulcan Robotics"])
    assert names.masked(text) is text


def test_a_name_with_entities_is_found_in_both_forms() -> None:
    names = NameMask(["Questions &amp; answers of Redstone"])
    assert names.masked("Questions & answers of Redstone") == MASK
    assert names.masked("Questions &amp; answers of Redstone") == MASK


@pytest.mark.parametrize(
    "text",
    [
        "Project Falcon",
        "Project&nbsp;Falcon",
        "pro&shy;ject Fal<b></b>con",
        "Project [Fal\u00adcon",
    ],
)
def test_a_pattern_strikes_what_is_shown(text: str) -> None:
    assert (
        redact_pattern(text, re.compile(r"(?i)project\s+falcon")).replace("<b></b>", "") == REDACTED
    )
