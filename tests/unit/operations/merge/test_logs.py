"""Merging decision logs by entry: nothing lost, nothing doubled,
a conflict only where both sides changed a line.
"""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.formats.adr.reader import read_document
from orbit_registry.operations.merge.texts import merge_driver, merge_logs

HEAD = "# registry: decisions\n\nWhat was decided.\n"


def entry(number: int, words: str = "Yes.") -> str:
    return (
        f"## ADR-{number:04d} — Title {number}\n\nStatus: Accepted · 2026-05-17\n\n"
        f"### Decision\n\n{words}\n\n### Consequences\n\n- Cost: {number}.\n"
    )


def log(*entries: str, gap: str = "\n", head: str = HEAD, tail: str = "") -> str:
    return "\n".join((head, gap.join(entries))) + (f"\n{tail}" if tail else "")


def numbers(text: str) -> list[int]:
    return [int(entry.number or 0) for entry in read_document(text, "4_decisions.md").entries]


def test_different_lines_of_one_entry_merge() -> None:
    base = log(entry(1), entry(2))
    merged = merge_logs(
        base,
        base.replace("Accepted", "Deprecated", 1),
        base.replace("- Cost: 1.", "- Cost: 1.\n\n### Amendments\n\nx"),
    )
    assert merged.contested == ()
    assert "Deprecated" in merged.text
    assert "### Amendments\n\nx\n\n## ADR-0002" in merged.text


def test_two_entries_of_one_number_conflict() -> None:
    merged = merge_logs(
        log(entry(1)), log(entry(1), entry(2, "Ours.")), log(entry(1), entry(2, "Theirs."))
    )
    assert merged.contested == ("ADR-0002",)
    both = f"<<<<<<< ours\n{entry(2, 'Ours.')}=======\n{entry(2, 'Theirs.')}>>>>>>> theirs\n"
    assert merged.text == log(entry(1), both)


@pytest.mark.parametrize("newest_first", [False, True])
def test_dated_entries_are_known_by_their_titles(newest_first: bool) -> None:
    def dated(*titles: str, words: str = "Yes.") -> str:
        order = reversed(titles) if newest_first else titles
        return "# Decisions\n" + "".join(
            f"\n## 2026-04-01: {title}\n\n{words}\n" for title in order
        )

    merged = merge_logs(dated("A", "B"), dated("A", "B", "C"), dated("A", "B", "D", "E"))
    clash = merge_logs(dated("A"), dated("A", words="No."), dated("A", words="Perhaps."))

    result = [line[-1] for line in merged.text.splitlines() if line.startswith("## ")]
    assert (sorted(result), merged.contested) == (["A", "B", "C", "D", "E"], ())
    assert result[-2:] == ["B", "A"] if newest_first else result[:2] == ["A", "B"]
    assert clash.contested == ("2026-04-01: A",)


def test_an_entry_removed_here_and_changed_there_is_a_conflict() -> None:
    merged = merge_logs(log(entry(1), entry(2)), log(entry(1)), log(entry(1), entry(2, "Changed.")))
    assert merged.contested == ("ADR-0002",)
    assert "Changed." in merged.text


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected"),
    [
        ([3, 2, 1], [5, 3, 2, 1], [4, 3, 2, 1], [5, 4, 3, 2, 1]),
        ([2, 7, 1], [2, 7, 1, 8], [2, 9, 7, 1], [2, 9, 7, 1, 8]),
        ([], [2], [1, 3], [1, 2, 3]),
    ],
)
def test_a_log_keeps_its_own_order(
    base: list[int], ours: list[int], theirs: list[int], expected: list[int]
) -> None:
    texts = [log(*(entry(number) for number in listed)) for listed in (base, ours, theirs)]
    assert numbers(merge_logs(*texts).text) == expected


def words_of(text: str) -> list[str]:
    """Return a log's words without the rules that separate entries:
    one entry alone does not show whether there are.
    """
    return [word for word in text.split() if word != "---"]


WORDS = st.text("abc ADR-1#`|*_\n-=<>é", min_size=1, max_size=30).map(
    lambda text: " ".join(part.strip(" #-=*_<>`") for part in text.split("\n")).strip() or "x"
)


@given(
    base=st.dictionaries(st.integers(1, 12), WORDS, max_size=6),
    ours=st.dictionaries(st.integers(1, 24), WORDS, max_size=6),
    theirs=st.dictionaries(st.integers(1, 24), WORDS, max_size=6),
    gap=st.sampled_from(["\n", "\n---\n\n"]),
    tail=st.sampled_from(["", "## Notes\n\nNone.\n"]),
)
def test_every_entry_of_both_sides_is_there_once(
    base: dict[int, str], ours: dict[int, str], theirs: dict[int, str], gap: str, tail: str
) -> None:
    """For disjoint edits and additions the merge is the log that someone who made both would have
    written.
    """
    theirs = {number: words for number, words in theirs.items() if number not in ours}

    def written(*changes: dict[int, str]) -> str:
        full_text = {
            number: words for change in (base, *changes) for number, words in change.items()
        }
        return log(
            *(entry(number, full_text[number]) for number in sorted(full_text)), gap=gap, tail=tail
        )

    merged = merge_logs(written(), written(ours), written(theirs))
    assert merged.contested == ()
    assert words_of(merged.text) == words_of(written(ours, theirs))
    assert numbers(merged.text) == sorted({*base, *ours, *theirs})
    assert words_of(merge_logs(written(), written(theirs), written(ours)).text) == words_of(
        merged.text
    )


@given(base=st.text("ab#\n \rADR-12—`", max_size=60), ours=st.text("ab#\n \rADR-12—`", max_size=60))
def test_an_unchanged_side_gives_the_other_sides_bytes(base: str, ours: str) -> None:
    assert merge_logs(base, ours, base).text == ours
    assert merge_logs(base, base, ours).text == ours
    assert merge_logs(base, ours, ours).text == ours


@given(
    texts=st.tuples(
        *[st.text("ab#\n\r\ufeff ADR-12—`-", max_size=80).map(lambda text: f"{text}\n## ADR-1 x\n")]
        * 3
    )
)
def test_hostile_logs_merge_to_something(texts: tuple[str, str, str]) -> None:
    base, ours, theirs = texts
    merged = merge_logs(base, ours, theirs)
    current = {line.strip() for line in merged.text.splitlines()}
    for side in (ours, theirs):
        added = {line.strip() for line in side.splitlines()} - {
            line.strip() for line in base.splitlines()
        }
        assert {line for line in added if line.strip("-*_ ")} <= current


def test_the_driver_leaves_what_it_cannot_read(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("base", "ours", "theirs")]
    for file, data in zip(files, (b"", log(entry(1)).encode(), b"\xff\xfe"), strict=True):
        file.write_bytes(data)
    assert merge_driver(*files) == 1
    assert files[1].read_bytes() == log(entry(1)).encode()


def test_a_log_of_mixed_line_endings_keeps_each() -> None:
    base = log(entry(1), entry(2), entry(3))
    ours = base.replace(entry(1), entry(1).replace("\n", "\r\n"))

    merged = merge_logs(base, ours, log(entry(1), entry(2), entry(3), entry(4))).text

    assert (merged.count("\r\n"), "\n" in merged.replace("\r\n", "")) == (ours.count("\r\n"), True)
