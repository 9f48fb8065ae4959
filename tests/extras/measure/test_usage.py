"""Turns and tokens of sessions in transcripts of both agents,
and the difference that records make to them.
"""

import json
import math
import os
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orbit_measure.effect import report
from orbit_measure.pairs import Pair
from orbit_measure.transcripts import usage_of
from orbit_registry.agents import claude, codex
from orbit_registry.registry import Registry
from orbit_registry.workspace.workspace import Workspace, open_workspace

SESSION = "5b0c1f1e-6a0e-4c55-9a38-0d4d6f7b2a10"
THREAD = "0199c2f0-1111-7222-8333-444455556666"
START = 1_795_168_800
"""2026-11-20T10:00:00Z"""


def answer(second: int, name: str, output: int, **counts: int) -> dict[str, Any]:
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 9_000,
        "output_tokens": output,
        **counts,
    }
    return {
        "type": "assistant",
        "timestamp": f"2026-11-20T10:00:{second:02}.500Z",
        "message": {"id": name, "usage": usage},
    }


def count(second: int, total: int, last: int) -> dict[str, Any]:
    tokens = {
        "input_tokens": last + 500,
        "cached_input_tokens": 500,
        "output_tokens": 7,
        "reasoning_output_tokens": 3,
    }
    info = {
        "total_token_usage": {"input_tokens": total, "output_tokens": 7},
        "last_token_usage": tokens,
    }
    payload = {"type": "token_count", "info": info, "rate_limits": None}
    return {
        "type": "event_msg",
        "timestamp": f"2026-11-20T10:00:{second:02}.500Z",
        "payload": payload,
    }


@pytest.fixture
def workspace(git_repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    Registry.init(git_repo)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    return open_workspace(git_repo)


def transcript(
    workspace: Workspace, rows: list[Any], session: str = SESSION, subagent: str = ""
) -> Path:
    """Write a transcript of Claude Code, or of Codex for `THREAD`."""
    home = workspace.root.parent
    folder = home / "CLAUDE_CONFIG_DIR/projects" / re.sub(r"[^A-Za-z0-9]", "-", str(workspace.root))
    path = folder / f"{session}.jsonl"
    if subagent:
        path = folder / session / f"subagents/agent-{subagent}.jsonl"
    elif session == THREAD:
        path = home / f"CODEX_HOME/sessions/2026/11/20/rollout-2026-11-20T10-00-00-{THREAD}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), "utf-8"
    )
    return path


def test_an_answer_counts_once(workspace: Workspace) -> None:
    rows = [
        answer(1, "m1", 1),
        answer(2, "m1", 40),
        answer(5, "m2", 5, cache_creation_input_tokens=100),
        "{torn",
        "[]",
    ]
    rows += [
        answer(6, "of-the-agent", 0, input_tokens=0),
        {**answer(7, "m4", 1), "timestamp": "noon"},
    ]
    transcript(workspace, rows)
    transcript(workspace, [answer(3, "m3", 1)], subagent="a1")
    usage = usage_of(workspace, [SESSION])[SESSION]
    assert usage.since(START) == (3, 50 + 115 + 11)
    assert usage.since(START + 2) == (2, 115 + 11)
    assert usage.since(START + 60) == (0, 0)


def test_codex_tells_an_answer_twice(workspace: Workspace) -> None:
    limits = {
        "type": "event_msg",
        "timestamp": "2026-11-20T10:00:00Z",
        "payload": {"type": "token_count", "info": None},
    }
    transcript(
        workspace, [limits, count(1, 600, 100), count(2, 600, 100), count(3, 1_400, 300)], THREAD
    )
    assert usage_of(workspace, [THREAD])[THREAD].since(START) == (2, 107 + 307)


def test_a_transcript_that_grew_is_read_again(workspace: Workspace) -> None:
    path = transcript(workspace, [answer(1, "m1", 1)])
    status = path.stat()
    assert usage_of(workspace, [SESSION])[SESSION].since(START) == (1, 11)
    transcript(workspace, [answer(1, "m1", 9)])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert usage_of(workspace, [SESSION])[SESSION].since(START) == (1, 11)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(answer(9, "m2", 2)) + "\n")
    assert usage_of(workspace, [SESSION])[SESSION].since(START) == (2, 19 + 12)


@pytest.mark.parametrize("session", ["../../etc/passwd", "", "_1f-8", "no-such-session"])
def test_a_session_without_a_transcript_has_no_usage(workspace: Workspace, session: str) -> None:
    assert usage_of(workspace, [session]) == {}
    target = transcript(workspace, [answer(1, "m1", 1)], "other")
    target.with_name(f"{SESSION}.jsonl").symlink_to(target)
    assert usage_of(workspace, [SESSION]) == {}


@pytest.mark.parametrize("usage", [claude.usage, codex.usage])
def test_odd_lines_use_nothing(usage: Callable[[Any], Any]) -> None:
    odd: list[Any] = [
        None,
        [],
        "x",
        {"usage": None},
        {"usage": {"input_tokens": "7", "output_tokens": -1}},
    ]
    odd += [
        {"type": "token_count", "info": {"last_token_usage": value, "total_token_usage": value}}
        for value in odd
    ]
    for value in odd:
        for kind in ("assistant", "event_msg"):
            assert [
                entry.tokens for entry in usage({"type": kind, "message": value, "payload": value})
            ] in ([], [0])


def used(seed: int, sessions: int, factor: float, share: float = 0.5) -> list[Pair]:
    """Return pairs of sessions whose tokens vary as real ones do; shown records multiply them."""
    chance = random.Random(seed)
    pairs = []
    for number in range(sessions):
        withheld, is_known = chance.random() < share, chance.random() < 0.9
        tokens = math.exp(chance.gauss(10, 1)) * (1 if withheld else factor)
        pair = Pair(f"s{number}", f"L-{number % 3}", withheld)
        pair.turns, pair.used_tokens = (
            (int(tokens) // 1_000, int(tokens)) if is_known else (None, None)
        )
        pairs.append(pair)
    return pairs


def test_a_known_difference_of_tokens_is_found() -> None:
    result = report(used(1, 2_000, 0.7), {})
    estimate = result.overall.estimates["used_tokens"]
    assert (estimate.low or 0) < -0.3 < (estimate.high or 0) < 0
    assert estimate.withheld == pytest.approx(math.exp(10), rel=0.1)
    assert 1_700 < result.transcripts < 1_900
    assert f"of {result.transcripts:,} of 2,000 sessions" in result.text()
    assert re.search(r"tokens used afterwards .*: -\d\d % \(-\d\d % to -\d\d %\)\n", result.text())


def test_without_effect_95_percent_of_intervals_hold_zero_where_few_use_most() -> None:
    estimates = [
        report(used(seed, 100, 1.0, 0.3), {}).overall.estimates["used_tokens"]
        for seed in range(200)
    ]
    assert 182 <= sum((entry.low or 0) <= 0 <= (entry.high or 0) for entry in estimates) <= 199


def test_so_many_sessions_see_the_difference() -> None:
    needed = report(used(1, 3_000, 1.0), {}).overall.estimates["used_tokens"].needed
    assert needed == pytest.approx(2 * (2.8016 / math.log(1.2)) ** 2, rel=0.1)
    assert needed is not None
    tries = [
        report(used(seed, round(2 * needed / 0.9), 1.2), {}).overall.estimates["used_tokens"]
        for seed in range(60)
    ]
    assert 40 <= sum((entry.low or 0) > 0 for entry in tries) <= 56


def test_power_is_unknown_without_sessions_that_vary() -> None:
    pairs = [Pair(f"s{number}", "L-1", False, retries=number) for number in range(10)]
    estimates = report(pairs, {}).overall.estimates
    assert estimates["retries"].needed is not None
    assert estimates["failed_calls"].needed is None
    assert report(pairs[:9], {}).overall.estimates["retries"].needed is None
