"""What is read from an event log, whatever stands in it."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.analytics.stats import MOST_NAMES, OTHERS, EventCounter, Times
from orbit_registry.hook.events import Event, append
from orbit_registry.workspace.event_log import LONGEST_LINE, LoggedEvent, LogScan, log_files, logged_events, read_line

NOW = 1_800_000_000.0
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
KEYS = ["at", "event", "surface", "session", "hits", "ids", "failed", "omitted", "skip_reason", "ms", "tokens"]
GOOD = {"at": "2026-11-22T01:00:00Z", "event": "retrieval", "surface": "hook:PreToolUse", "hits": ["L-7k3fq"], "ms": 3}


def line(**fields: object) -> bytes:
    """Return an event's line with some fields of its own."""
    return json.dumps({**GOOD, **fields}).encode() + b"\n"


def read(*parts: bytes, folder: Path, now: float = NOW) -> tuple[list[LoggedEvent], LogScan]:
    """Return what is read from a log of these parts."""
    path = folder / "events.jsonl"
    path.write_bytes(b"".join(parts))
    met = LogScan()
    return list(logged_events([path], now, met)), met


def test_what_a_surface_writes_is_read_back(tmp_path: Path) -> None:
    """The event that push appends says the same when it is read."""
    (tmp_path / ".orbit").mkdir()
    event = Event("hook:PreToolUse", 1_790_000_000)
    event.hits, event.session, event.omitted, event.ms = ["L-7k3fq", "ADR-0001"], "s-1", 2, 3.5
    append(str(tmp_path), event)
    quiet = Event("brief:prompt", 1_790_000_001)
    quiet.skip_reason = "no match"
    append(str(tmp_path), quiet)
    found = list(logged_events(log_files(tmp_path / ".orbit/state"), NOW, LogScan()))

    assert [(one.at, one.surface, one.session, one.shown, one.omitted, one.skip_reason, one.ms) for one in found] == [
        (1_790_000_000, "hook:PreToolUse", "s-1", ("L-7k3fq", "ADR-0001"), 2, "", 3.5),
        (1_790_000_001, "brief:prompt", "", (), 0, "no match", 0.0),
    ]


def test_lines_that_are_no_event_are_counted_by_why(tmp_path: Path) -> None:
    """Torn, empty, too long, foreign and future lines hide no event."""
    parts = [
        line(), b"\n", b'{"at": "2026-\n', b"\xff\xfe\n", b"[" * 60_000 + b"\n", b"[]\n", b'{"event": "retrieval"}\n',
        line(at="yesterday"), line(surface="a\u001b[31m"), b"x" * (LONGEST_LINE * 3) + b"\n",
        line(at="2099-01-01T00:00:00Z"), line(hits=["L-8m2xd"])[:-1],
    ]  # fmt: skip
    found, met = read(*parts, folder=tmp_path)

    assert [one.shown for one in found] == [("L-7k3fq",), ("L-8m2xd",)]
    assert met.skipped == {"torn or no JSON": 3, "no event": 4, "too long": 1, "dated ahead of the clock": 1}
    assert met.lines == len(parts) - 1


def test_a_clock_that_was_set_back_is_noticed(tmp_path: Path) -> None:
    """A jump backwards is counted once; processes that write side by side are none."""
    times = ["01:00:00", "01:00:30", "01:00:29", "00:10:00", "00:10:01"]
    found, met = read(*(line(at=f"2026-11-22T{one}Z") for one in times), folder=tmp_path)
    assert (len(found), met.backwards) == (5, 1)


def test_the_older_log_comes_first_and_links_are_not_followed(tmp_path: Path) -> None:
    """Both files are one log; what only leads to one is none."""
    folder = tmp_path / "log"
    folder.mkdir()
    (folder / "events.1.jsonl").write_bytes(line(session="old"))
    (folder / "events.jsonl").write_bytes(line(session="new"))
    assert [one.session for one in logged_events(log_files(tmp_path), NOW, LogScan())] == ["old", "new"]
    (folder / "events.jsonl").unlink()
    (folder / "events.jsonl").symlink_to(folder / "events.1.jsonl")
    assert [one.session for one in logged_events(log_files(tmp_path), NOW, LogScan())] == ["old"]


@given(st.dictionaries(st.sampled_from(KEYS), JSON), st.booleans())
def test_no_value_of_a_field_is_believed_unseen(fields: dict[str, object], known: bool) -> None:
    """Whatever the fields hold, a line gives an event of plain short values, or the reason why it gives none."""
    found = read_line(json.dumps({**GOOD, **fields} if known else fields).encode())
    if isinstance(found, tuple):
        found = found[0]
        texts = [found.kind, found.surface, found.session, found.agent, found.skip_reason, *found.shown, *found.opened]
        assert all(len(text) <= 100 and text.isprintable() for text in texts)
        assert found.ms is None or found.ms >= 0
        EventCounter(None, {}, 0).add_all([found])


@given(st.binary(max_size=300))
def test_bytes_of_any_kind_raise_nothing(content: bytes) -> None:
    """A line is an event, or a reason."""
    assert isinstance(read_line(content), tuple | str)


def test_a_log_of_ever_new_names_is_counted_in_bounded_memory() -> None:
    """Beyond a number of names the others are counted together, and the sums stay right."""
    said = [
        LoggedEvent(NOW + place, "retrieval", "hook:x", f"s{place}", "", (f"L-{place}",), (), (), 0, "", "", 1.0, 10)
        for place in range(MOST_NAMES + 7)
    ]
    found = EventCounter(None, {}, 0).add_all(said)

    assert found.shown[OTHERS] == 7
    assert len(found.sessions) == MOST_NAMES + 1
    assert (found.total.calls, found.shown.total(), found.total.tokens) == (
        MOST_NAMES + 7,
        MOST_NAMES + 7,
        10 * (MOST_NAMES + 7),
    )


@given(st.lists(st.floats(0, 900), min_size=1), st.sampled_from([0.5, 0.99, 1.0]))
def test_a_percentile_is_a_time_that_occurs(times: list[float], share: float) -> None:
    """It is, to a tenth, the time that so many of the calls did not exceed."""
    counted = Times()
    for one in times:
        counted.add(one)
    found = counted.percentile(share)
    rounded = sorted(round(one, 1) for one in times)
    assert found in rounded
    assert sum(one <= found for one in rounded) >= share * len(rounded)
    assert sum(one < found for one in rounded) < share * len(rounded)


def test_what_comes_after_it_was_shown_is_told_from_what_comes_before() -> None:
    """Opening counts once a session and record; a failure says whether the session had the record by then."""

    def said(session: str, shown: str = "", opened: str = "", failed: str = "") -> LoggedEvent:
        ids = [(one,) if one else () for one in (shown, opened, failed)]
        return LoggedEvent(NOW, "retrieval", "hook:x", session, "", ids[0], ids[1], ids[2], 0, "", "", None, None)

    found = EventCounter(None, {"L-1": 7}, 20).add_all(
        [
            said("a", opened="L-1"),
            said("a", failed="L-1"),
            said("a", shown="L-1"),
            said("a", opened="L-1"),
            said("a", opened="L-1"),
            said("a", failed="L-1"),
            said("b", shown="L-1"),
            said("b", failed="L-2"),
            said("trial-1", shown="L-1"),
        ]
    )
    assert (found.opened["L-1"], found.opened_after["L-1"], found.pairs) == (3, 1, 2)
    assert (dict(found.failed_before), dict(found.failed_after)) == ({"L-1": 1, "L-2": 1}, {"L-1": 1})
    assert (found.total.tokens, found.estimated, found.trials) == (2 * 27, 2, 1)


def test_what_a_session_forgot_it_was_not_shown() -> None:
    """After a compaction a failure is one that pushing missed, and a record that is shown again counts again."""

    def said(kind: str, shown: str = "", failed: str = "") -> LoggedEvent:
        ids = [(one,) if one else () for one in (shown, failed)]
        return LoggedEvent(NOW, kind, "hook:x", "a", "", ids[0], (), ids[1], 0, "", "", None, None)

    found = EventCounter(None, {}, 0).add_all(
        [said("retrieval", "L-1"), said("compaction"), said("retrieval", failed="L-1"), said("retrieval", "L-1")]
    )
    assert (found.pairs, found.failed_before["L-1"], found.total.calls) == (2, 1, 3)
