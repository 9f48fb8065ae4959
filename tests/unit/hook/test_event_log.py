"""What is written to an event log, and what is read from it, whatever it holds."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.hook.events import FAILED, Event, append
from orbit_registry.registry import Registry
from orbit_registry.workspace.event_log import (
    LONGEST_LINE,
    LoggedEvent,
    LogScan,
    log_files,
    logged_events,
    read_line,
    write_event,
)

NOW = 1_800_000_000.0
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
KEYS = [
    "at",
    "event",
    "surface",
    "session",
    "hits",
    "ids",
    "failed",
    "omitted",
    "skip_reason",
    "ms",
    "tokens",
]
GOOD = {
    "at": "2026-11-22T01:00:00Z",
    "event": "retrieval",
    "surface": "hook:PreToolUse",
    "hits": ["L-7k3fq"],
    "ms": 3,
}


def line(**fields: object) -> bytes:
    return json.dumps({**GOOD, **fields}).encode() + b"\n"


def read(*parts: bytes, folder: Path, now: float = NOW) -> tuple[list[LoggedEvent], LogScan]:
    path = folder / "events.jsonl"
    path.write_bytes(b"".join(parts))
    met = LogScan()
    return list(logged_events([path], now, met)), met


def test_what_a_surface_writes_is_read_back(tmp_path: Path) -> None:
    (tmp_path / ".orbit").mkdir()
    event = Event("hook:PreToolUse", 1_790_000_000)
    event.hits, event.session, event.omitted, event.ms = ["L-7k3fq", "ADR-0001"], "s-1", 2, 3.5
    append(str(tmp_path), event)
    quiet = Event("brief:prompt", 1_790_000_001)
    quiet.skip_reason = "no match"
    append(str(tmp_path), quiet)
    events = list(logged_events(log_files(tmp_path / ".orbit/state"), NOW))

    assert [
        (
            event.at,
            event.surface,
            event.session,
            event.shown,
            event.omitted,
            event.skip_reason,
            event.ms,
        )
        for event in events
    ] == [
        (1_790_000_000, "hook:PreToolUse", "s-1", ("L-7k3fq", "ADR-0001"), 2, "", 3.5),
        (1_790_000_001, "brief:prompt", "", (), 0, "no match", 0.0),
    ]


def test_lines_that_are_no_event_are_counted_by_why(tmp_path: Path) -> None:
    parts = [
        line(),
        b"\n",
        b'{"at": "2026-\n',
        b"\xff\xfe\n",
        b"[" * 60_000 + b"\n",
        b"[]\n",
        b'{"event": "retrieval"}\n',
        line(at="yesterday"),
        line(surface="a\u001b[31m"),
        b"x" * (LONGEST_LINE * 3) + b"\n",
        line(at="2099-01-01T00:00:00Z"),
        line(hits=["L-8m2xd"])[:-1],
    ]
    events, met = read(*parts, folder=tmp_path)

    assert [event.shown for event in events] == [("L-7k3fq",), ("L-8m2xd",)]
    assert met.skipped == {
        "torn or no JSON": 3,
        "no event": 4,
        "too long": 1,
        "dated ahead of the clock": 1,
    }
    assert met.lines == len(parts) - 1


def test_a_clock_that_was_set_back_is_noticed(tmp_path: Path) -> None:
    times = ["01:00:00", "01:00:30", "01:00:29", "00:10:00", "00:10:01"]
    events, met = read(*(line(at=f"2026-11-22T{event}Z") for event in times), folder=tmp_path)
    assert (len(events), met.backwards) == (5, 1)


def test_the_older_log_comes_first_and_links_are_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    folder.mkdir()
    (folder / "events.1.jsonl").write_bytes(line(session="old"))
    (folder / "events.jsonl").write_bytes(line(session="new"))
    assert [event.session for event in logged_events(log_files(tmp_path), NOW)] == [
        "old",
        "new",
    ]
    (folder / "events.jsonl").unlink()
    (folder / "events.jsonl").symlink_to(folder / "events.1.jsonl")
    assert [event.session for event in logged_events(log_files(tmp_path), NOW)] == ["old"]


@given(st.dictionaries(st.sampled_from(KEYS), JSON), st.booleans())
def test_no_value_of_a_field_is_believed_unseen(fields: dict[str, object], existing: bool) -> None:
    """Whatever the fields hold, a line gives an event of plain short values,
    or the reason why it gives none.
    """
    events = read_line(json.dumps({**GOOD, **fields} if existing else fields).encode())
    if not isinstance(events, str):
        texts = [
            events.kind,
            events.surface,
            events.session,
            events.agent,
            events.skip_reason,
            *events.shown,
            *events.opened,
        ]
        assert all(len(text) <= 100 and text.isprintable() for text in texts)
        assert events.ms is None or events.ms >= 0


def test_no_secret_reaches_the_event_log(git_repo: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    Registry.init(git_repo)
    details = {"target": f"task:{secret}", "asked": [f"see {secret}"], "attempts": 3}

    write_event(Registry.open(git_repo).workspace, FAILED, ["FLR-1"], details)

    log = (git_repo / ".orbit/state/log/events.jsonl").read_text("utf-8")
    assert secret not in log
    assert '"target": "task:[redacted: GitHub token]"' in log
    assert '"attempts": 3' in log
