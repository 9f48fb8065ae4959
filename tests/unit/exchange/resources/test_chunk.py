"""How texts are cut into chunks."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.errors import UsageError
from orbit_registry.hook.session import tokens
from orbit_registry.search.chunks import Chunking, Strategy, chunking_from, cut

LONG = "Some words that say nothing at all. " * 20
"""180 tokens."""
SECTION = LONG * 3
TEXTS = st.lists(
    st.sampled_from(
        [
            "# A\n",
            "## B b\n",
            "### C\n",
            "---\n",
            "===\n",
            "```\n# no\n```\n",
            "\n",
            "word " * 40,
            "長い文。" * 90,
        ]
    )
    | st.text(max_size=60),
    max_size=25,
).map("\n".join)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# One\n\nshort\n\n## Two\n\n## Three\n\n## Four\n", "none"),
        (LONG, "none"),
        (f"# Guide\n\n## A\n\n{SECTION}\n## B\n\n{SECTION}\n### C\n\n{SECTION}", "headers"),
        (f"# Guide\n\n# A\n\n{SECTION}\n# B\n\n{SECTION}", "fixed"),
        ("\n\n---\n\n".join([LONG] * 4), "delimiter"),
        ("\n\n***\n\n".join([LONG] * 4), "delimiter"),
        ("\n\n===\n\n".join([LONG] * 4), "delimiter"),
        ("\n\n---\n\n".join([LONG] * 3), "fixed"),
        ("\n\n".join([LONG] * 9), "fixed"),
        (f"```sh\n## a\n## b\n## c\n```\n{SECTION}", "fixed"),
        (f"---\na: 1\nb: 2\n---\n{SECTION}\n\n---\n\n{LONG}\n\n---\n\n{LONG}", "fixed"),
    ],
)
def test_auto_looks_at_headings_then_rules_then_length(text: str, expected: Strategy) -> None:
    assert cut(text).strategy == expected


def test_a_breadcrumb_names_the_headings_above() -> None:
    text = (
        f"---\ntags: x\n---\n# Guide\n\n## Parent\n\n{SECTION}\n\n### "
        f"Child\n\n{SECTION}\n```\n## no heading\n```\n"
    )

    parent, child = cut(text, Chunking("headers")).chunks

    assert (parent.breadcrumb, parent.sections) == ("Guide … Parent", ("Guide", "Parent"))
    assert (child.title, child.breadcrumb, child.sections) == (
        "Child",
        "Guide > Parent > Child",
        ("Child",),
    )
    lines = text.split("\n")
    for item in (parent, child):
        assert item.body == "\n".join(lines[item.first_line - 1 : item.last_line])
    assert parent.first_line == 4


@pytest.mark.parametrize(
    ("text", "breadcrumb"),
    [
        ("# Guide\n\n## A\n\n## B\n\n## C\n\n#### Detail\n", "Guide … C"),
        ("Before.\n\n## A\n\n### B\n\n## C\n\n### D\n", "A … C > D"),
        ("## A\n\n### B\n\n### C\n", "A … C"),
        ("## A\n\n#### Detail\n", "A"),
    ],
)
@pytest.mark.parametrize("strategy", ["headers", "none"])
def test_a_breadcrumb_names_first_and_last_section(
    text: str, breadcrumb: str, strategy: Strategy
) -> None:
    assert [chunk.breadcrumb for chunk in cut(text, Chunking(strategy)).chunks] == [breadcrumb]


def test_a_chunk_knows_what_links_to_its_headings_say() -> None:
    text = (
        f"# Guide\n\n## Same\n\n{SECTION}\n\n## Same\n\n{SECTION}\n\n## Other "
        f"{{#Mine}}\n\n{SECTION}\n"
    )

    assert [chunk.anchors for chunk in cut(text, Chunking("headers")).chunks] == [
        ("guide", "same"),
        ("same-1",),
        ("mine",),
    ]


def test_small_pieces_join_up_to_the_largest_size() -> None:
    small, large = "## Small\n\ntiny\n", f"## Large\n\n{LONG * 4}\n"

    joined = cut(
        small + f"## Next\n\n{LONG}\n", Chunking("headers", max_tokens=200, fixed_tokens=150)
    ).chunks
    apart = cut(small + large, Chunking("headers", max_tokens=725, fixed_tokens=500)).chunks

    assert [item.sections for item in joined] == [("Small", "Next")]
    assert [(item.title, item.warning) for item in apart] == [
        ("Small", "undersized"),
        ("Large", ""),
    ]
    assert [
        chunk.sections for chunk in cut(f"{large}\n## End\n\nbye\n", Chunking("headers")).chunks
    ] == [("Large", "End")]


def test_a_large_piece_is_cut_into_numbered_parts_that_overlap() -> None:
    text = "## Long\n\n" + "\n\n".join(f"Paragraph {number}. {LONG}" for number in range(10))

    parts = cut(text, Chunking("headers")).chunks

    assert [part.title for part in parts] == [
        f"Long (part {number})" for number in range(1, len(parts) + 1)
    ]
    assert {part.breadcrumb for part in parts} == {"Long"}
    assert [part.continues for part in parts] == [False] + [True] * (len(parts) - 1)
    assert all(part.tokens <= 800 for part in parts)
    flat = "\n".join(f"{number} {LONG}" for number in range(30))
    first, second, *_ = cut(flat, Chunking("fixed", fixed_tokens=400, overlap_tokens=200)).chunks
    assert second.first_line <= first.last_line


def test_chunks_overlap_by_tokens_in_every_script() -> None:
    first, second, *_ = cut(
        "".join(f"長い文{number}。" for number in range(600)), Chunking("fixed")
    ).chunks

    repeated = next(
        size for size in range(len(first.body), 0, -1) if second.body.startswith(first.body[-size:])
    )
    assert second.continues
    assert 0 < tokens(second.body[:repeated]) <= 60


@pytest.mark.parametrize(
    "sizes",
    [{"fixed_tokens": 300, "overlap_tokens": 30}, {"fixed_tokens": 400, "overlap_tokens": 200}],
)
@pytest.mark.parametrize("line", [290, 296, 299, 300, 390, 399, 400])
def test_a_long_line_leaves_nothing_behind_that_says_nothing_new(
    sizes: dict[str, int], line: int
) -> None:
    lines = (" ".join(f"{part}{word:03}" for word in range(line * 4 // 5)) for part in "abcdef")
    text = "# Guide\n\nintro\n\n" + "\n\n## Part\n\n".join(lines)

    chunks = cut(text, Chunking("fixed", **sizes)).chunks

    assert [chunk.warning for chunk in chunks[:-1]] == [""] * (len(chunks) - 1)
    assert not any(after.body in before.body for before, after in pairwise(chunks))


def test_a_fixed_cut_tears_no_code() -> None:
    assert len(cut(LONG * 3 + "\n", Chunking("fixed")).chunks) == 1
    code = "```sh\n" + "echo one more step\n\n" * 60 + "```\n"

    first, *_ = cut(f"{LONG}{LONG}\n\n{code}\n{LONG * 3}", Chunking("fixed")).chunks

    assert "echo" not in first.body


def test_a_script_is_cut_by_its_lines() -> None:
    script = "#!/bin/sh\n" + "".join(f"# step {number}\necho {number}\n" for number in range(400))

    result = cut(script, markdown=False)

    assert result.strategy == "fixed"
    assert all(chunk.title == "" and chunk.sections == () for chunk in result.chunks)
    assert all(set(chunk.body.split("\n")) <= set(script.split("\n")) for chunk in result.chunks)


def test_a_chunk_keeps_its_name_while_its_text_stays() -> None:
    text = f"## A\n\n{SECTION}\n## B\n\n{SECTION}\n## C\n\n{SECTION}"

    before = cut(text, Chunking("headers")).chunks
    after = cut(f"## New\n\n{SECTION}\nmore\n\n{text}", Chunking("headers")).chunks

    assert [item.code for item in before] == [chunk.code for chunk in after[1:]]
    assert before[0].first_line != after[1].first_line
    same = cut("\n\n---\n\n".join([LONG] * 4), Chunking("delimiter")).chunks
    assert len({item.code for item in same}) == 4


@pytest.mark.parametrize(
    "arguments",
    [
        {"strategy": "semantic"},
        {"min_tokens": 900},
        {"fixed_tokens": 1000},
        {"overlap_tokens": 300},
    ],
)
def test_what_contradicts_itself_is_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        chunking_from(arguments)


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff", "---\na: 1\n---\n"])
def test_nothing_has_no_chunks(text: str) -> None:
    assert cut(text).chunks == ()


@given(TEXTS, st.sampled_from(["auto", "headers", "delimiter", "fixed", "none"]), st.booleans())
def test_no_line_of_a_text_is_lost(text: str, strategy: Strategy, markdown: bool) -> None:
    chunking = Chunking(strategy, min_tokens=20, max_tokens=120, fixed_tokens=60, overlap_tokens=10)

    result = cut(text, chunking, markdown=markdown)

    bodies = "\n".join(chunk.body for chunk in result.chunks)
    front = text.startswith(("---", "\ufeff")) or (":" in text.split("\n", 1)[0])
    if not front:
        lines = [line.strip() for line in text.replace("\r", "\n").split("\n")]
        remaining = [
            line
            for line in lines
            if line.strip("-=* \t\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u2028\u2029")
        ]
        assert all(
            word in bodies for line in remaining for word in line.split(" ") if len(word) < 60
        )
    assert len({chunk.code for chunk in result.chunks}) == len(result.chunks)
    for piece in result.chunks:
        assert piece.body in text
        assert piece.tokens == tokens(piece.body)
        assert 1 <= piece.first_line <= piece.last_line <= text.count("\n") + 1
        assert result.strategy == "none" or piece.tokens <= 120
