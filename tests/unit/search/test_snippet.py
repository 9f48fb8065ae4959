"""The line of a hit that shows where its text has the words of the query."""

import pytest

from orbit_registry.search.search import SNIPPET, snippet
from orbit_registry.search.text import terms

PROMPTS = frozenset({"_What is done?_", "Cost: _who pays?_"})


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Date: 2026-05-01\n\n## Status\n\nAccepted\n\n## Context\n\nUsers wait.\n", "Users wait."),
        ("- Status: accepted\n- **Deciders**: Ada\n\n### Context\n\nUsers wait.\n", "Users wait."),
        (
            "| Status | Accepted |\n|--------|----------|\n\nUsers: they wait.\n",
            "Users: they wait.",
        ),
        ("## Status\n\nAccepted\n", "Their title"),
        ("## Decision\n\n_What is done?_\n\n- Cost: _who pays?_\n\nUsers wait.\n", "Users wait."),
    ],
)
def test_it_begins_with_prose(text: str, line: str) -> None:
    assert snippet(text, set(terms("accepted users")), "Their title", PROMPTS) == line


def test_near_the_end_it_begins_at_a_word_and_fills_its_line() -> None:
    text = f"{'word ' * 100}zebra"

    line = snippet(text, set(terms("zebra")), "", PROMPTS)

    assert line.startswith("…word ")
    assert line.endswith("word zebra")
    assert 140 < len(line) <= SNIPPET


def test_a_comment_that_no_page_shows_is_in_no_snippet() -> None:
    text = "<!-- req~chat.entries~1\nof zebras -->\n\nChats are kept in a file. <!-- zebra -->"
    assert snippet(text, set(terms("chats")), "", PROMPTS) == "Chats are kept in a file."


def test_of_a_link_a_snippet_has_the_words() -> None:
    text = "Chats follow [the store](https://example.com/a?b=c#d), see ![picture](chats.png)."
    line = snippet(text, set(terms("chats")), "", PROMPTS)
    assert line == "Chats follow the store, see picture."


def test_a_comment_of_a_script_is_no_heading() -> None:
    text = "#!/bin/sh\n# Moves the platypus.\nmv $1 $2\n"
    line = snippet(text, set(terms("platypus")), "", PROMPTS, markdown=False)
    assert line == "#!/bin/sh # Moves the platypus. mv $1 $2"
