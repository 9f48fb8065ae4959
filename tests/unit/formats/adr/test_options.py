"""Rejected options of decision documents: which they are, and why."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.formats.adr.options import suggested_options

MADR = """# Use PostgreSQL for the job queue

## Considered Options

* {options}

## Decision Outcome

Chosen option: {chosen}

## Pros and Cons of the Options

### Redis

* Good, because it is fast
* Bad, because it is one more
  server to run. It also needs backups.
"""


def rejected(text: str) -> list[tuple[str, str]]:
    """Return the rejected options of a text with their reasons."""
    return [(option.option, option.reason) for option in suggested_options(text)]


def section(heading: str, *lines: str) -> str:
    """Return a decision with one more section."""
    return "\n".join(
        (
            "# Use PostgreSQL",
            "",
            "## Decision",
            "",
            "We use it.",
            "",
            f"## {heading}",
            "",
            *lines,
            "",
        )
    )


@pytest.mark.parametrize(
    "chosen",
    [
        '"PostgreSQL", because we run it.',
        "PostgreSQL, because we run it.",
        "**PostgreSQL** because we run it",
        '"[PostgreSQL](https://www.postgresql.org)"',
        "Option 1",
        'both "PostgreSQL" and nothing else.',
    ],
)
def test_madr_rejects_what_was_not_chosen(chosen: str) -> None:
    """The considered options without the chosen one, each with its first drawback."""
    options = "\n* ".join(("Option 1: PostgreSQL", "Option 2: Redis", "A file, as today"))

    assert rejected(MADR.format(options=options, chosen=chosen)) == [
        ("Redis", "it is one more server to run"),
        ("A file, as today", ""),
    ]


def test_a_description_is_no_reason() -> None:
    """In a list that holds the chosen one too, only what says why is a reason."""
    options = (
        "PostgreSQL - a database\n* RabbitMQ - a message broker\n* Files - too slow\n* "
        "Leave it as it is"
    )

    assert rejected(MADR.format(options=options, chosen="PostgreSQL")) == [
        ("RabbitMQ", ""),
        ("Files", "too slow"),
        ("Leave it as it is", ""),
    ]


@pytest.mark.parametrize(
    "chosen", ["**1. PostgreSQL**, because", "option 1", "\n\nPostgreSQL, as we run it."]
)
def test_a_numbered_list_has_the_numbers_of_options(chosen: str) -> None:
    """The choice names the place in the list, or stands in the paragraph below."""
    text = (
        section("Considered Options", "1. PostgreSQL", "2. Redis")
        + f"\n## Decision Outcome\n\nChosen option: {chosen}\n"
    )

    assert rejected(text) == [("Redis", "")]


@pytest.mark.parametrize(
    "choice",
    [
        "Chosen options:\n\n- PostgreSQL, because we run it\n- Redis",
        '### Chosen option: "PostgreSQL"\n\nWe run it.\n\n### Chosen option: "Redis"',
    ],
)
def test_of_several_choices_none_rejects(choice: str) -> None:
    """A list of considered options is not read where it is not clear which of them were left."""
    text = section("Considered Options", "- PostgreSQL", "- Redis")
    assert rejected(f"{text}\n## Decision Outcome\n\n{choice}\n") == []


@pytest.mark.parametrize(
    "chosen", ["To be determined: PostgreSQL is fast.", "TBD, but PostgreSQL is fast"]
)
def test_no_option_is_rejected_before_one_is_chosen(chosen: str) -> None:
    """A name in the sentence does not choose."""
    assert rejected(MADR.format(options="PostgreSQL\n* Redis", chosen=chosen)) == []


def test_rejected_because_above_a_list_is_no_option() -> None:
    assert rejected(section("Keep the file", "**Rejected Because:**", "", "1. It grows.")) == []


def test_no_option_is_rejected_where_none_is_chosen() -> None:
    """A list of options alone does not say which of them the decision left."""
    assert rejected(MADR.format(options="PostgreSQL\n* Redis", chosen="a mixture of all")) == []


def test_marks_say_which_option_was_chosen() -> None:
    """Headings with `(chosen)`, and a reason in the text below the others."""
    text = section(
        "Options considered",
        *("### Option A: Redis", "", "Fast. Needs a server.", ""),
        *("### Option B: PostgreSQL (chosen)", "", "We run it.", ""),
        *("### Option C: RabbitMQ", "", "**Rejected:** nobody knows it. Ever."),
    )

    assert rejected(text) == [("Redis", "Fast. Needs a server"), ("RabbitMQ", "nobody knows it")]


@pytest.mark.parametrize(
    ("heading", "line", "option", "reason"),
    [
        (
            "Alternatives considered",
            "- **Redis.** Rejected: one more server.",
            "Redis",
            "one more server",
        ),
        (
            "Alternatives considered",
            "- Redis — one more server. It is fast.",
            "Redis",
            "one more server. It is fast",
        ),
        ("Alternatives rejected", "1. Redis: one more server", "Redis", "one more server"),
        (
            "Alternatives",
            "| Option | Verdict |\n|---|---|\n| Redis | one more server |",
            "Redis",
            "one more server",
        ),
        ("Verworfene Alternativen", "- Redis, weil noch ein Server", "Redis", "noch ein Server"),
        ("Alternativas descartadas", "- Redis: otro servidor", "Redis", "otro servidor"),
        ("代替案", "- Redis: サーバーが増える", "Redis", "サーバーが増える"),
        (
            "Alternatives",
            '- A number (e.g., "1. Redis"): one more',
            'A number (e.g., "1. Redis")',
            "one more",
        ),
        (
            "Notes",
            "Rejected: Redis, because it is one more server.",
            "Redis",
            "it is one more server",
        ),
        ("Notes", "- Rejected: Redis (one more server)", "Redis", "one more server"),
        ("Notes", "- **Rejected: Redis.** One more server.", "Redis", "One more server"),
        ("Notes", "- **Redis** — rejected; one more server.", "Redis", "one more server"),
        ("Notes", "- **Redis — rejected.** One more server.", "Redis", "One more server"),
        ("Notes", "Verworfen: Redis, weil noch ein Server", "Redis", "noch ein Server"),
        ("Notes", "Rejeté : Redis, car un serveur de plus", "Redis", "un serveur de plus"),
        ("Rejected: Redis", "One more server.", "Redis", "One more server"),
        ("Why not Redis?", "One more server.", "Redis", "One more server"),
    ],
)
def test_forms_of_a_rejected_option(heading: str, line: str, option: str, reason: str) -> None:
    """Sections of alternatives, and lines that say it of one option, in several languages."""
    assert rejected(section(heading, line)) == [(option, reason)]


@pytest.mark.parametrize(
    ("heading", "line"),
    [
        ("Alternatives considered", "- **PostgreSQL (chosen).** We run it."),
        ("Alternatives considered", "- None."),
        ("Alternatives considered", "- {title of option 1}"),
        ("Consequences", "- Requests without a key are rejected: clients have to send one."),
        ("Context", "```\nRejected: Redis\n```"),
        ("Notes", "The gate says\nRejected: no key, which is what clients see."),
        ("Status", "Rejected"),
    ],
)
def test_what_is_no_rejected_option(heading: str, line: str) -> None:
    """The chosen one, placeholders, code, and the word in another sense."""
    assert rejected(section(heading, line)) == []


def test_lines_that_follow_each_other_are_an_option_each() -> None:
    """Without a blank line between them; a line that goes on belongs to the one above."""
    lines = (
        "Rejected: Redis, because it is",
        "one more server.",
        "Rejected: a file, because it has no locks.",
    )

    assert rejected(section("Notes", *lines)) == [
        ("Redis", "it is one more server"),
        ("a file", "it has no locks"),
    ]


def test_an_option_is_listed_once() -> None:
    """A section and a line may say the same."""
    text = (
        section("Alternatives considered", "- Redis: one more server")
        + "\n## Notes\n\n- Rejected: Redis\n"
    )

    assert rejected(text) == [("Redis", "one more server")]


LINES = (
    "## Considered Options",
    "## Alternatives rejected",
    "### Rejected: Redis",
    "- Redis",
    "* **Redis** (chosen)",
    "",
    'Chosen option: "Redis", because',
    "Rejected:",
    "- Rejected — (a)",
    "| a | b |",
    "|---|---|",
    "```",
    "- [ ] Option 2",
    "**",
    "1. x: y",
    "## Pros and Cons of the Options",
    "Bad, because",
    "<!--",
    "  - deep",
    "\ufeff",
    "# T",
)


@given(st.lists(st.sampled_from(LINES), max_size=12).map("\n".join))
def test_any_text_has_options_of_one_line(text: str) -> None:
    """Whatever lines follow each other: names are not empty,
    and neither has more than a record may hold.
    """
    for option, reason in rejected(text):
        assert option.strip()
        assert "\n" not in option + reason
        assert len(option) <= 200
        assert len(reason) <= 300


@pytest.mark.parametrize(
    "sign", ["*", "(", " ", '"', "[", "—", "rejected ", "Option ", "a.", "because ", "\u200d", "`"]
)
def test_no_text_takes_long(sign: str) -> None:
    """Patterns stay near to linear time, whatever is repeated."""
    for line in ("- {}", "Rejected: {}", "### {}", "Chosen option: {}", "{}", "- **{}"):
        text = section("Considered Options", line.format(sign * 10_000)) + section(
            "Rejected", line.format(sign * 10_000)
        )
        start = time.process_time()
        rejected(text)
        assert time.process_time() - start < 2
