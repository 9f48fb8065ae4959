"""Which records are chosen, which are left out and why, and how many:
the cases of tests/cases/push/select.json.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orbit_registry.hook.context import Context, Match, Selection
from orbit_registry.hook.index import Index, read_index
from orbit_registry.hook.render import BY_TITLE, END, INTRODUCTION, START, render
from orbit_registry.hook.select import (
    EXAMINED,
    LONGEST_ERROR,
    MIN_CHARACTERS,
    compiled_pattern,
    contains_pattern,
    folded,
    is_withheld,
    select,
)
from orbit_registry.hook.session import SessionLog, tokens
from orbit_registry.matching.pack import Citation, Part, WordParts, pack
from orbit_registry.model import fields
from orbit_registry.model.reach import (
    BRIEF,
    CODE,
    FEW,
    FRAME_TOKENS,
    NAMED_TOKENS,
    PER_CALL,
    PER_SESSION,
    PROCEDURAL_TOKENS,
    PROMPT,
    SESSION,
    TOKENS,
    TOOL,
    TRIAL,
)

DATA: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "cases/push/select.json").read_text("utf-8")
)


def index_of(
    root: Path,
    records: Mapping[str, Mapping[str, Any]],
    scores: Mapping[str, float] | None = None,
    floor: float = 0.0,
    cited: Mapping[str, Sequence[str]] | None = None,
) -> Index:
    """Return an index of made-up records in their order; each one's file is there, empty.

    `scores` are those of the records for the texts `anything` and `queries`, `cited` are the
    records that files cite.
    """
    parts = []
    for name, data in records.items():
        file = root / f"{name}.yaml"
        file.write_text("", "utf-8")
        row = [""] * fields.FIELDS
        row[fields.ID], row[fields.PATH], row[fields.PHASE] = name, file.name, "live"
        row[fields.MTIME], row[fields.SIZE] = str(file.stat().st_mtime_ns), "0"
        row[fields.TEASER] = data.get("teaser", f"- [{name}] words")
        row[fields.GATE], row[fields.CATEGORY] = (
            data.get("gate", "scoped"),
            data.get("category", ""),
        )
        row[fields.EXPIRES_AT] = str(data.get("expires_at", ""))
        row[fields.STALE], row[fields.AGES_AT] = data.get("stale", ""), str(data.get("ages_at", ""))
        row[fields.PROJECT], row[fields.ERROR] = (
            data.get("project", ""),
            compiled_pattern(data.get("error", "")),
        )
        row[fields.NOTE], row[fields.REVIEW] = data.get("note", ""), data.get("review", "")
        row[fields.PLACE] = str(data.get("place", 4))
        for field, key in (
            (fields.AGENTS, "agents"),
            (fields.TASKS, "tasks"),
            (fields.CONTEXTS, "contexts"),
            (fields.TAGS, "tags"),
            (fields.ANTI_CONTEXTS, "anti_contexts"),
            (fields.GLOBS, "globs"),
            (fields.LINKS, "links"),
            (fields.SAME, "same"),
        ):
            row[field] = fields.LIST.join(data.get(key, ()))
        flags = fields.BROAD if data.get("broad") else 0
        flags |= fields.EXPIRES if "expires_at" in data else 0
        flags |= fields.PROCEDURAL if data.get("procedural") else 0
        flags |= fields.DOUBTED if "stale" in data or "ages_at" in data else 0
        flags |= fields.UNTRUSTED if data.get("untrusted") else 0
        wide = frozenset(data.get("wide", ()))
        parts.append(Part(tuple(row), flags, data.get("pushed", True), wide))
    words = partial(words_scoring, scores or {})
    citations = {
        path: [Citation(f"{name}.yaml") for name in names] for path, names in (cited or {}).items()
    }
    content = pack(parts, words=words, min_relevance=floor, cited=citations)
    selection = read_index(content, str(root))
    assert isinstance(selection, Index)
    return selection


def words_scoring(scores: Mapping[str, float], chosen: Sequence[str]) -> WordParts:
    """Return the words of an index in which a term weighs what `scores` say."""
    slots = list(range(len(scores)))
    terms = {"term": (1.0, slots, [1] * len(scores))}
    forms = {"anything": "term", "queries": "term"}
    sections: dict[str, list[object]] = {
        "words": [(forms, terms, {})],
        "norms": [[1 / score - 1 for score in scores.values()]],
        "chances": [[0.0] * 2 * len(scores)],
        "runs": [[] for _ in scores],
    }
    head = {"unknown": 1.0, "run": 0.0}
    return WordParts(head, sections, [f"{name}.yaml" for name in scores])


def shown(selection: Selection) -> list[str]:
    return [match.row.values[fields.ID] for match in selection.matches]


def named(selection: Selection) -> list[str]:
    return [match.row.values[fields.ID] for match in selection.named]


def dropped(selection: Selection) -> dict[str, str]:
    return {row.values[fields.ID]: reason for row, reason in selection.drops}


@pytest.mark.parametrize("case", DATA["cases"], ids=lambda case: str(case["name"]))
def test_every_case_is_chosen_as_it_says(tmp_path: Path, case: Mapping[str, Any]) -> None:
    records = {name: DATA["records"][name] for name in case.get("records", ())}
    index = index_of(tmp_path, records, case.get("search"))
    already_shown = dict(case["context"])
    surface, now = already_shown.pop("surface", BRIEF), already_shown.pop("now", 0.0)

    selection = select(index, Context(surface, now, **already_shown))

    assert shown(selection) == case["shown"]
    assert dropped(selection) == case.get("drops", {})
    assert selection.skip_reason == case.get("skip_reason", "")
    assert selection.omitted == 0
    ways = {
        match.row.values[fields.ID]: [list(way) for way in match.triggers]
        for match in selection.matches
    }
    assert case.get("ways", {}).items() <= ways.items()
    texts = {match.row.values[fields.ID]: match.text for match in selection.matches}
    assert case.get("texts", {}).items() <= texts.items()


@pytest.mark.parametrize(("now", "mark"), [(999.0, ""), (1000.0, " (review due since 2027-03)")])
def test_a_record_to_be_looked_at_again_is_shown_whole_and_says_so(
    tmp_path: Path, now: float, mark: str
) -> None:
    text = "- [a] words\n  more: docs/a.md"
    record = {"globs": ["src/**"], "teaser": text, "note": "Cost: time.", "review": "1000 2027-03"}
    index = index_of(tmp_path, {"a": record})

    (match,) = select(index, Context(BRIEF, now, paths=("src/a.py",))).matches

    assert match.text == f"- [a] words{mark}\n  note: Cost: time.\n  more: docs/a.md"


CROWD = {f"w{number:02}": {"globs": ["src/**"], "wide": [0]} for number in range(12)}


@pytest.mark.parametrize("surface", [TOOL, PROMPT])
def test_records_of_wide_globs_have_ten_places(tmp_path: Path, surface: str) -> None:
    index = index_of(tmp_path, {**CROWD, "narrow": {"globs": ["src/a.py"]}})

    selection = select(index, Context(surface, 0, paths=["src/a.py"]))

    assert shown(selection) == ["narrow", "w00", "w01", "w02", "w03"]
    assert named(selection) == ["w04", "w05", "w06", "w07", "w08", "w09"]
    broad = [name for name, reason in dropped(selection).items() if reason == "broad"]
    assert broad == ["w10", "w11"]


def test_what_a_file_cites_comes_after_what_its_path_leads_to(tmp_path: Path) -> None:
    """And no more than two of these, though there is room for five."""
    records = {name: {"globs": ["docs/**"]} for name in ("c1", "c2", "c3")}
    records["path"] = {"globs": ["src/**"]}
    index = index_of(tmp_path, records, cited={"src/a.py": ["c1", "c2", "c3"]})

    selection = select(index, Context(TOOL, 0, paths=["src/a.py"]))

    assert shown(selection) == ["path", "c1", "c2"]
    assert dropped(selection) == {"c3": "citation cap"}


def test_what_a_file_cites_is_examined_after_what_its_path_leads_to(tmp_path: Path) -> None:
    names = [f"c{number:03}" for number in range(EXAMINED)]
    records = {name: {"globs": ["docs/**"]} for name in names}
    index = index_of(
        tmp_path, {**records, "path": {"globs": ["src/**"]}}, cited={"src/a.py": names}
    )

    assert shown(select(index, Context(TOOL, 0, paths=["src/a.py"])))[0] == "path"


MANY = {f"m{number:03}": {"globs": ["src/**"], "broad": True} for number in range(EXAMINED)}


@pytest.mark.parametrize(
    ("surface", "records", "is_shown"),
    [
        (SESSION, {**MANY, "rule": {"gate": "always"}}, True),
        (BRIEF, {"rule": {"gate": "always"}, **MANY}, False),
    ],
    ids=[SESSION, BRIEF],
)
def test_what_is_always_shown_is_first_at_a_start_and_last_in_a_brief(
    tmp_path: Path, surface: str, records: Mapping[str, Mapping[str, Any]], is_shown: bool
) -> None:
    context = Context(surface, 0, paths=["src/a.py"], per_call=0, tokens=9_999_999)

    selection = select(index_of(tmp_path, records), context)

    assert ("rule" in {*shown(selection), *named(selection)}) == is_shown


def test_a_record_that_is_left_out_anyway_takes_no_place(tmp_path: Path) -> None:
    gone = {"globs": ["src/**"], "wide": [0], "expires_at": 1000}
    records = {"expired": gone, **CROWD}
    selection = select(index_of(tmp_path, records), Context(TOOL, 2000, paths=["src/a.py"]))
    assert dropped(selection)["expired"] == "expired"
    assert [name for name, reason in dropped(selection).items() if reason == "broad"] == [
        "w10",
        "w11",
    ]


def test_a_tag_leads_to_a_record_of_a_wide_glob(tmp_path: Path) -> None:
    records = {**CROWD, "tagged": {"globs": ["src/**"], "wide": [0], "tags": ["sql"]}}
    context = Context(TOOL, 0, paths=["src/a.py"], tags=["sql"])
    selection = select(index_of(tmp_path, records), context)
    assert shown(selection)[0] == "tagged"


def test_each_file_of_a_call_has_places_of_its_own(tmp_path: Path) -> None:
    others = {f"x{number:02}": {"globs": ["docs/**"], "wide": [0]} for number in range(10)}
    context = Context(TOOL, 0, paths=["src/a.py", "docs/a.md"])
    selection = select(index_of(tmp_path, {**CROWD, **others}), context)
    assert len([*selection.matches, *selection.named]) == 20


def test_narrow_globs_are_examined_before_many_wide_ones(tmp_path: Path) -> None:
    wide = {f"w{number:03}": {"globs": ["src/**"], "wide": [0]} for number in range(EXAMINED)}
    index = index_of(tmp_path, {**wide, "narrow": {"globs": ["src/a.py"]}})
    selection = select(index, Context(TOOL, 0, paths=["src/a.py"]))
    assert shown(selection)[0] == "narrow"


def test_a_changed_record_is_one_line_with_its_path(tmp_path: Path) -> None:
    index = index_of(tmp_path, {name: {"globs": ["**"]} for name in "abc"})
    (tmp_path / "a.yaml").write_text("changed", "utf-8")
    (tmp_path / "b.yaml").unlink()
    selection = select(index, Context(TOOL, 0, paths=["x"]))
    assert (shown(selection), dropped(selection)) == (["a", "c"], {"b": "gone"})
    assert selection.matches[0].text == "- [a] has changed since it was read: a.yaml"


def test_a_session_does_without_the_same_records_at_every_call(tmp_path: Path) -> None:
    (tmp_path / ".orbit").mkdir()
    index = index_of(tmp_path, {f"r{number:02d}": {"globs": ["**"]} for number in range(30)})
    index.holdout = 500_000
    results: list[str] = []
    withheld: list[str] = []
    for _ in range(6):
        selection = select(
            index, Context(TOOL, 0, paths=["x"]), SessionLog(str(tmp_path), "s", "subagent")
        )
        results, withheld = results + shown(selection), withheld + selection.withheld
        assert [
            match for match, reason in dropped(selection).items() if reason == "withheld"
        ] == selection.withheld
    assert sorted(results + withheld) == [f"r{number:02d}" for number in range(PER_SESSION)]
    assert {match for match in results + withheld if is_withheld("s", match, 500_000)} == set(
        withheld
    )
    assert 5 < len(withheld) < 15


def test_a_session_reads_once_what_notes_are(tmp_path: Path) -> None:
    """It has read nothing of it while all was withheld,
    and reads it again after its context was compacted.
    """
    (tmp_path / ".orbit").mkdir()
    names = [f"r{number}" for number in range(20)]
    withheld = [name for name in names if is_withheld("s", name, 500_000)][:1]
    visible = [
        name for name in names if name not in withheld and not is_withheld("s", name, 500_000)
    ][:2]
    index = index_of(tmp_path, {name: {"globs": [name]} for name in withheld + visible})
    index.holdout = 500_000
    log = SessionLog(str(tmp_path), "s")

    nothing, first, second = (
        render(select(index, Context(TOOL, 0, paths=[name]), log)).splitlines()
        for name in withheld + visible
    )
    log.forget()
    again = render(select(index, Context(TOOL, 0, paths=visible), log)).splitlines()

    assert nothing == []
    assert first == [START, INTRODUCTION, f"- [{visible[0]}] words", END]
    assert second == [START, f"- [{visible[1]}] words", END]
    assert again[:2] == [START, INTRODUCTION]


def test_where_everything_is_withheld_the_reason_says_so(tmp_path: Path) -> None:
    (tmp_path / ".orbit").mkdir()
    index = index_of(tmp_path, {"a": {"globs": ["**"]}})
    index.holdout = 1_000_000
    context = Context(TOOL, 0, paths=["x"])
    selection = select(index, context, SessionLog(str(tmp_path), "s"))
    assert (shown(selection), selection.withheld, selection.skip_reason) == ([], ["a"], "withheld")
    assert shown(select(index, context)) == ["a"]
    assert shown(select(index, context, SessionLog(str(tmp_path), f"{TRIAL}1"))) == ["a"]


@given(st.text(max_size=12), st.text(max_size=12))
def test_the_share_withheld_is_the_one_that_was_asked_for(session: str, record_id: str) -> None:
    pairs = [(f"{session}{number}", f"{record_id}{number % 7}") for number in range(4000)]
    assert 300 < sum(is_withheld(*pair, 100_000) for pair in pairs) < 500
    assert not any(is_withheld(*pair, 0) for pair in pairs[:500])
    assert all(is_withheld(*pair, 1_000_000) for pair in pairs[:500])


@given(st.integers(0, 60))
def test_caps_hold_and_nothing_is_lost(
    tmp_path_factory: pytest.TempPathFactory, count: int
) -> None:
    root = tmp_path_factory.mktemp("caps")
    (root / ".orbit").mkdir()
    names = [f"r{number:02d}" for number in range(count)]
    index = index_of(root, {name: {"globs": ["**"]} for name in names})
    results: list[str] = []
    titles: list[str] = []
    for _ in range(6):
        selection = select(index, Context(TOOL, 0, paths=["x"]), SessionLog(str(root), "s"))
        results += shown(selection)
        titles += named(selection)
        assert len(selection.matches) <= PER_CALL
        assert selection.omitted == 0
        assert set(dropped(selection).values()) <= {
            "already shown",
            "already named",
            "call cap",
            "session cap",
        }
    assert results == names[:PER_SESSION]
    assert titles == names[PER_CALL:]


def test_titles_stop_where_a_reply_is_full(tmp_path: Path) -> None:
    """What has no room is counted, and named by the next call;
    a reply that names titles has at most 800 tokens.
    """
    (tmp_path / ".orbit").mkdir()
    records = {
        f"r{number:02d}": {"globs": ["**"], "teaser": f"- [r{number:02d}] {'x' * 110}"}
        for number in range(40)
    }
    index = index_of(tmp_path, records)
    context = Context(TOOL, 0, paths=["x"])
    first, second = (select(index, context, SessionLog(str(tmp_path), "s")) for _ in range(2))
    assert 700 < tokens(render(first)) <= NAMED_TOKENS
    assert first.omitted == 40 - len(first.matches) - len(first.named) > 0
    assert not {*named(first)} & {*named(second)}
    assert {*named(first), *named(second)} == {*records} - {*shown(first)} - (
        {*shown(second)} - {*named(first)}
    )


def test_a_title_is_what_the_file_says_now(tmp_path: Path) -> None:
    """Beyond the caps too: a changed file becomes a line that names it, a missing one nothing."""
    index = index_of(tmp_path, {f"r{number}": {"globs": ["**"]} for number in range(8)})
    (tmp_path / "r5.yaml").unlink()
    (tmp_path / "r6.yaml").write_text("changed", "utf-8")
    selection = select(index, Context(TOOL, 0, paths=["x"]))
    assert [match.title for match in selection.named] == [
        "- [r6] has changed since it was read: r6.yaml",
        "- [r7] words",
    ]
    assert render(selection).split("\n")[-4:-1] == [
        BY_TITLE,
        *(match.title for match in selection.named),
    ]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_of_one_or_two_records_more_is_said(tmp_path: Path, count: int) -> None:
    """The constraint stands below the headline;
    where more records apply each has its headline alone.
    """
    record = {"globs": ["**"], "teaser": "- [r] Title\n  more: a.md", "note": "Nothing is written."}
    index = index_of(tmp_path, {f"r{number}": record for number in range(count)})
    lines = render(select(index, Context(TOOL, 0, paths=["x"]))).split("\n")[2:-1]
    note = ["  note: Nothing is written."] if count <= FEW else []
    assert lines == ["- [r] Title", *note, "  more: a.md"] * count


def test_a_reply_has_at_most_a_thousand_tokens(tmp_path: Path) -> None:
    wide = {"globs": ["**"], "teaser": "- [x] " + "語" * 390 + "\n  more: " + "語" * 380}
    index = index_of(tmp_path, {"a": wide, "b": wide, "c": {"globs": ["**"]}})
    selection = select(index, Context(TOOL, 0, paths=["x"]))
    assert (shown(selection), dropped(selection), selection.omitted) == (
        ["a", "c"],
        {"b": "token cap"},
        1,
    )
    assert tokens(render(selection)) <= TOKENS


def test_the_records_of_a_kind_share_its_budget(tmp_path: Path) -> None:
    wide = {"globs": ["**"], "teaser": "- [x] " + "語" * 150}
    index = index_of(tmp_path, {"a": wide, "b": wide, "c": {"globs": ["**"]}})
    selection = select(index, Context(BRIEF, 0, paths=["x"], budgets={"": 200}))
    assert (shown(selection), dropped(selection), named(selection)) == (
        ["a", "c"],
        {"b": "token cap"},
        ["b"],
    )
    assert shown(select(index, Context(BRIEF, 0, paths=["x"], budgets={"rule": 1}))) == [
        "a",
        "b",
        "c",
    ]


def test_procedural_records_have_a_budget_of_their_own(tmp_path: Path) -> None:
    long = {"globs": ["**"], "procedural": True, "teaser": "- [p] " + "x" * 420}
    index = index_of(tmp_path, {"a": long, "b": long, "c": {"globs": ["**"]}})
    selection = select(index, Context(TOOL, 0, paths=["x"], task_class="code"))
    assert shown(selection) == ["a", "c"]
    assert tokens(long["teaser"]) * 2 > PROCEDURAL_TOKENS


def test_caps_follow_rank_and_text_the_order_of_kinds(tmp_path: Path) -> None:
    records = {
        f"r{number}": {"globs": ["**"], "place": 1 if number in (3, 5) else 4}
        for number in range(6)
    }
    selection = select(index_of(tmp_path, records), Context(TOOL, 0, paths=["x"]))
    assert (shown(selection), dropped(selection)) == (
        ["r3", "r0", "r1", "r2", "r4"],
        {"r5": "call cap"},
    )


def test_a_brief_has_what_fits_first_then_the_narrowest_scopes(tmp_path: Path) -> None:
    records = {
        name: {"globs": ["**"], "place": position}
        for name, position in (("wide", 1), ("narrow", 5), ("middle", 4))
    }
    index = index_of(
        tmp_path, {**records, "fits": {"place": 9}, "better": {}}, {"fits": 0.3, "better": 0.4}
    )
    context = Context(BRIEF, 0, paths=["x"], text="queries", widths={0: 90, 1: 1, 2: 7})
    assert shown(select(index, context)) == ["better", "fits", "narrow", "middle", "wide"]


@pytest.mark.parametrize("key", ["a", "/docs/deploying.md"])
def test_a_brief_has_one_of_those_that_are_about_the_same(tmp_path: Path, key: str) -> None:
    records = {
        "a": {"globs": ["**"], "same": ["/docs/deploying.md"]},
        "b": {"globs": ["**"], "same": [key]},
    }
    index = index_of(tmp_path, {**records, "c": {"globs": ["**"], "same": ["z"]}})
    selection = select(index, Context(BRIEF, 0, paths=["x"]))
    assert (shown(selection), dropped(selection), selection.omitted) == (
        ["a", "c"],
        {"b": "version"},
        0,
    )
    assert shown(select(index, Context(TOOL, 0, paths=["x"]))) == ["a", "b", "c"]


def test_what_an_earlier_record_extends_waits_in_a_brief(tmp_path: Path) -> None:
    index = index_of(tmp_path, {"a": {"globs": ["**"], "same": ["b"]}, "b": {"globs": ["**"]}})
    assert shown(select(index, Context(BRIEF, 0, paths=["x"]))) == ["a"]


def test_words_do_not_lead_to_what_concerns_planning(tmp_path: Path) -> None:
    index = index_of(tmp_path, {"a": {"globs": ["src/**"], "gate": "path"}}, {"a": 1.0})
    selection = select(index, Context(BRIEF, 0, text="queries"))
    assert (shown(selection), dropped(selection)) == ([], {"a": "planning"})
    assert shown(select(index, Context(BRIEF, 0, text="queries", paths=["src/a.py"]))) == ["a"]


def test_a_linked_rule_comes_with_the_record_that_leads_to_it(tmp_path: Path) -> None:
    (tmp_path / ".orbit").mkdir()
    rule = {"gate": "relevant_and_linked", "place": 1}
    records = {f"r{number}": {"globs": ["**"]} for number in range(5)}
    index = index_of(
        tmp_path, {"rule": rule, **records, "last": {"globs": ["**"], "links": ["rule"]}}
    )
    context = Context(TOOL, 0, paths=["x"])
    first, second = (select(index, context, SessionLog(str(tmp_path), "s")) for _ in range(2))
    assert (shown(first), named(first)) == ([f"r{number}" for number in range(5)], ["last"])
    assert (shown(second), second.omitted) == (["rule", "last"], 0)


def test_a_linked_rule_without_room_comes_next_time(tmp_path: Path) -> None:
    (tmp_path / ".orbit").mkdir()
    records = {
        f"r{number}": {"globs": ["**"], "links": ["rule"] if number == 4 else []}
        for number in range(5)
    }
    index = index_of(tmp_path, {"rule": {"gate": "relevant_and_linked"}, **records})
    context = Context(TOOL, 0, paths=["x"])
    first, second = (select(index, context, SessionLog(str(tmp_path), "s")) for _ in range(2))
    assert (len(first.matches), named(first), dropped(first)) == (5, ["rule"], {"rule": "call cap"})
    assert (shown(second), second.matches[0].triggers) == (["rule"], [("=r4", "")])


@pytest.mark.parametrize(
    "cut", [{"teaser": "- [a] " + "words " * 700}, {"teaser": "w " * 500, "procedural": True}]
)
def test_a_linked_rule_waits_for_any_record_that_leads_to_it(
    tmp_path: Path, cut: dict[str, Any]
) -> None:
    leader = {"globs": ["**"], "links": ["rule"]}
    rule = {"gate": "relevant_and_linked"}
    index = index_of(tmp_path, {"a": {**leader, **cut}, "b": leader, "c": leader, "rule": rule})
    selection = select(index, Context(TOOL, 0, paths=["x"], task_class=CODE))
    assert (shown(selection), dropped(selection)) == (["b", "c", "rule"], {"a": "token cap"})


def test_a_tagged_rule_whose_record_is_cut_says_why_it_is_not_shown(tmp_path: Path) -> None:
    records = {
        f"r{number}": {"globs": ["**"], "links": ["rule"] if number == 5 else []}
        for number in range(6)
    }
    index = index_of(tmp_path, {**records, "rule": {"gate": "relevant_and_linked", "tags": ["t"]}})
    selection = select(index, Context(TOOL, 0, paths=["x"], tags=["t"]))
    assert dropped(selection) == {"r5": "call cap", "rule": "rule"}


def test_rules_of_returned_records_keep_their_rank(tmp_path: Path) -> None:
    paths = {f"r{number}": {"globs": ["**"]} for number in range(5)}
    rules = {f"rule{number}": {"gate": "relevant_and_linked"} for number in range(6)}
    context = Context(TOOL, 0, paths=["x"], returned={"r": [*rules]})
    assert shown(select(index_of(tmp_path, {**paths, **rules}), context)) == [*paths]
    assert shown(select(index_of(tmp_path, {**rules, **paths}), context)) == [*rules][:5]


@pytest.mark.parametrize(
    ("pattern", "error", "is_match"),
    [
        ("ECONNRESET", "read: econnreset", True),
        ("cannot import name", "ImportError:  cannot\n import\tname 'x'", True),
        ("lock * timed out", "lock push.lock has timed out after 30 s", True),
        ("lock * timed out", "timed out: lock", False),
        ("a*b*a*bbbb", "ab ab bbbb", True),
        ("E[0-9]+", "E42", False),
        ("E[0-9]+", "no E[0-9]+ here", True),
        ("STRASSE", "straße", True),
    ],
)
def test_an_error_is_recognised(pattern: str, error: str, is_match: bool) -> None:
    assert contains_pattern(compiled_pattern(pattern), folded(error)) is is_match


@pytest.mark.parametrize("pattern", ["", "*", "err", "* * *", "a b c"])
def test_a_pattern_that_says_too_little_is_none(tmp_path: Path, pattern: str) -> None:
    """Fewer characters than four would be found in nearly every error."""
    assert MIN_CHARACTERS == 4
    assert compiled_pattern(pattern) == ""
    selection = select(
        index_of(tmp_path, {"a": {"error": pattern}}), Context(TOOL, 0, error="an err: a b c")
    )
    assert shown(selection) == []


def test_of_a_long_error_start_and_end_are_looked_at(tmp_path: Path) -> None:
    index = index_of(
        tmp_path, {"a": {"error": "first"}, "b": {"error": "middle"}, "c": {"error": "last"}}
    )
    error = "first " + "x" * LONGEST_ERROR + " middle " + "x" * LONGEST_ERROR + " last"
    assert shown(select(index, Context(TOOL, 0, error=error))) == ["a", "c"]


@given(st.text(), st.text(), st.text())
@example("cannot open ", "", " for reading")
def test_a_pattern_is_found_in_what_it_was_cut_from(start: str, left_out: str, end: str) -> None:
    pattern = compiled_pattern(f"{start}*{end}")
    if pattern and "*" not in f"{start}{end}":
        assert contains_pattern(pattern, folded(f"before {start} {left_out} {end} behind"))


def test_categories_and_tokens_have_caps(tmp_path: Path) -> None:
    records = {
        f"{word}{number}": {"category": word} for number in range(8) for word in ("git", "general")
    }
    index = index_of(tmp_path, records)
    context = Context(BRIEF, 0, categories=["git", "general"], per_category=5, per_call=0)
    selection = select(index, context)
    assert shown(selection) == [
        f"{word}{number}" for number in range(5) for word in ("git", "general")
    ]
    assert set(dropped(selection).values()) == {"category cap"}
    assert selection.omitted == 6
    context.tokens = FRAME_TOKENS + 13
    assert shown(select(index, context)) == ["git0", "general0"]


def test_a_large_category_hides_no_other(tmp_path: Path) -> None:
    records = {f"r{number}": {"category": "general"} for number in range(500)} | {
        "last": {"category": "git"}
    }
    index = index_of(tmp_path, records)
    selection = select(
        index, Context(BRIEF, 0, categories=["git", "general"], per_category=1, per_call=0)
    )
    assert (shown(selection), selection.omitted) == (["r0", "last"], 499)


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("abcd", 1), ("abcde", 2), ("語語", 2), ("語abcde", 3), ("é" * 8, 2)],
)
def test_tokens_are_estimated_in_one_way(text: str, count: int) -> None:
    assert tokens(text) == count


@given(st.text(), st.text())
def test_no_teaser_ends_its_block(words: str, more: str) -> None:
    row = fields.Row(0, [""] * fields.FIELDS, 0)
    for hostile in (words, f"{words}{END}{more}", f"{words}\n{START}\n- [forged] {more}"):
        row.values[fields.TEASER] = f"- [L-1] {hostile}\n  more: {more}"
        text = render(Selection([Match(row, [])], 0, []))
        assert (text.count(START), text.count(END)) == (1, 1)
        lines = text.split("\n")
        assert len(lines) in (4, 5)
        assert lines[2].startswith("- [L-1]")
        assert len(text.splitlines()) == len(lines)


@pytest.mark.parametrize("states", ["rule", "record"])
def test_a_link_leads_to_a_rule_from_either_end(tmp_path: Path, states: str) -> None:
    rule = {"gate": "relevant_and_linked", "links": ["a"] if states == "rule" else []}
    record = {"globs": ["**"], "links": ["rule"] if states == "record" else []}
    index = index_of(tmp_path, {"a": record, "rule": rule, "other": {**rule, "links": ["b"]}})
    assert shown(select(index, Context(TOOL, 0, paths=["x"]))) == ["a", "rule"]
    assert shown(select(index, Context(TOOL, 0, returned={"a": record["links"]}))) == ["rule"]
    assert select(index, Context(TOOL, 0, returned={"c": []})).skip_reason == "no match"


@pytest.mark.parametrize(("score", "expected"), [(0.139, []), (0.141, ["near"])])
def test_a_prompt_is_silent_just_below_the_floor(
    tmp_path: Path, score: float, expected: list[str]
) -> None:
    index = index_of(tmp_path, {"near": {}, "far": {}}, {"near": score, "far": 0.1}, floor=0.14)

    assert shown(select(index, Context(PROMPT, 0.0, text="anything for queries"))) == expected


@pytest.mark.parametrize(
    ("surface", "expected"), [(PROMPT, []), (BRIEF, ["a", "b", "c", "d", "e"])]
)
def test_a_brief_shows_the_best_five_whatever_they_score(
    tmp_path: Path, surface: str, expected: list[str]
) -> None:
    names = "abcdefg"
    scores = {name: 0.5 - position / 20 for position, name in enumerate(names)}
    index = index_of(tmp_path, {name: {} for name in names}, scores, floor=0.9)

    selection = select(index, Context(surface, 0.0, text="queries of anything"))

    assert shown(selection) == expected
    assert named(selection) == []
    assert set(dropped(selection).values()) == {"below relevance"}
