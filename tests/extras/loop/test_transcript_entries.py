"""Turns of each agent's transcripts, in bounded memory."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_loop.capture.run import READERS
from orbit_loop.capture.turns import MOST_STEPS, MOST_WAITING, Session, Turn, turns
from orbit_registry.agents.agent import LONGEST_TEXT, TranscriptEntry
from orbit_registry.agents.transcripts import LONGEST_ROW, Progress, entries_in, without_injected

CASES = Path(__file__).parents[2] / "cases/transcripts"
ROOT = "/home/ada/project"


def read_turns(path: Path, agent: str) -> tuple[list[Turn], Session]:
    """Return the turns of a transcript that hold a call, and what is known of the session."""
    session = Session()
    met = turns(entries_in(path, READERS[agent].entries, Progress()), ROOT, session)
    return [turn for turn in met if turn.steps], session


@pytest.mark.parametrize("agent", ["claude", "codex", "copilot", "gemini", "reasonix"])
def test_transcripts_of_all_agents_give_turns(agent: str) -> None:
    result, session = read_turns(CASES / f"{agent}-stumble.jsonl", agent)
    (turn,) = result
    assert session.id
    assert session.folder in (ROOT, "")
    assert "<" not in turn.prompt
    assert "deploy" not in turn.prompt
    assert turn.prompt
    assert not turn.rejected
    assert not session.is_foreign
    runs = [step for step in turn.steps if step.action == "run"]
    assert next(step.command for step in runs if step.failed) in (
        "npm test",
        "pytest -q tests/test_cart.py",
    )
    assert not runs[-1].failed
    assert any(step.action == "write" and step.paths for step in turn.steps)


def test_an_interrupted_turn_is_rejected(tmp_path: Path) -> None:
    told_file = {
        "claude": {
            "type": "user",
            "message": {"role": "user", "content": "[Request interrupted by user]"},
        },
        "codex": {"type": "event_msg", "payload": {"type": "turn_aborted"}},
        "copilot": {"type": "abort", "data": {"reason": "user initiated"}},
        "gemini": {"$rewindTo": "1"},
        "reasonix": {"type": "replace", "reason": "rewind", "messages": []},
    }
    for agent, row in told_file.items():
        path = tmp_path / f"{agent}.jsonl"
        path.write_text(
            (CASES / f"{agent}-stumble.jsonl").read_text("utf-8").rstrip()
            + f"\n{json.dumps(row)}\n",
            "utf-8",
        )
        result = list(turns(entries_in(path, READERS[agent].entries, Progress()), ROOT, Session()))
        assert result[-1].rejected


def test_a_rewritten_history_repeats_no_call(tmp_path: Path) -> None:
    rows = [
        json.loads(line)
        for line in (CASES / "reasonix-stumble.jsonl").read_text("utf-8").splitlines()
    ]
    again = {
        "type": "replace",
        "messages": [entry for row in rows for entry in row.get("messages", [])],
    }
    path = tmp_path / "s.events.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, again]), "utf-8")
    before, _ = read_turns(CASES / "reasonix-stumble.jsonl", "reasonix")
    after, _ = read_turns(path, "reasonix")
    assert [len(turn.steps) for turn in after] == [len(turn.steps) for turn in before]


@pytest.mark.parametrize(
    "text",
    [
        "<project-notes>\n- [L-1] recalled\n</project-notes>",
        "&lt;project-notes&gt;recalled&lt;/project-notes&gt;",
        "[project notes]\nrecalled\n[end of project notes]",
        "<system-reminder>recalled</system-reminder>",
        "<private>recalled",
        "<hook_context>recalled</hook_context>",
        "## System Context\n\nrecalled\n## Next\n",
        "<environment_context>\nrecalled\n</environment_context>",
    ],
)
def test_injected_text_is_removed_from_prompts(text: str) -> None:
    remaining = without_injected(f"Before.\n{text}")
    assert "recalled" not in remaining
    assert remaining.startswith("Before.")


def test_memory_is_bounded(tmp_path: Path) -> None:
    def endless() -> Iterator[TranscriptEntry]:
        for number in range(5 * MOST_WAITING):
            yield TranscriptEntry(
                "call", call=f"open-{number}", tool="Bash", arguments={"command": "x" * 5_000}
            )
        for number in range(3 * MOST_STEPS):
            yield TranscriptEntry(
                "call", call=f"c{number}", tool="Bash", arguments={"command": "y" * 5_000}
            )
            yield TranscriptEntry("result", "z" * LONGEST_TEXT, call=f"c{number}")

    result = list(turns(endless(), ROOT, Session()))
    assert max(len(turn.steps) for turn in result) <= MOST_STEPS
    assert max(len(step.command) for turn in result for step in turn.steps) <= 2_000

    path = tmp_path / "long.jsonl"
    long = {"type": "user", "message": {"role": "user", "content": "p" * 100_000}}
    with path.open("w", encoding="utf-8") as file:
        file.write(
            "x" * (2 * LONGEST_ROW + 17) + "\n" + json.dumps(long) + "\n" + "y" * LONGEST_ROW + "\n"
        )
    met = Progress()
    (entry,) = entries_in(path, READERS["claude"].entries, met)
    assert len(entry.text) <= LONGEST_TEXT + 3
    assert (met.done, met.broken) == (path.stat().st_size, 2)


KEYS = (
    "type",
    "message",
    "content",
    "payload",
    "role",
    "text",
    "toolCalls",
    "result",
    "messages",
    "tool_calls",
    "function",
    "arguments",
    "id",
    "head",
    "output",
    "action",
    "item",
    "sessionId",
    "attachment",
)
PLAIN = st.none() | st.booleans() | st.integers() | st.text(max_size=20)
STRANGE = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(STRANGE)
def test_any_json_line_is_read(value: object) -> None:
    row = (
        value
        if isinstance(value, dict)
        else {"type": "user", "message": value, "payload": value, "messages": value}
    )
    for reader in READERS.values():
        list(turns(reader.entries(row), ROOT, Session()))
