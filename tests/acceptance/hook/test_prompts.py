"""Prompts in words, as agents send them: the record that fits is shown,
and nothing else is said.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.hook.conftest import bring_up_to_date, run_client, write_learning
from tests.files import configure, events

Call = Callable[..., dict[str, Any]]
QUESTION = "why does the invoice double after a retry?"
SCOPE = {"paths": ["billing/**"]}


@pytest.fixture
def workspace(root: Path) -> Path:
    write_learning(root, 11, summary="A retry makes a double invoice without a key", scope=SCOPE)
    write_learning(
        root, 12, summary="A retry doubles the invoice, as it did", scope=SCOPE, status="archived"
    )
    for number, text in enumerate(
        ("Take locks in one order", "Close sockets early", "Measure before a cache"), 13
    ):
        write_learning(root, number, summary=text, scope={"paths": ["lib/**"]})
    bring_up_to_date(root)
    return root


def ids(reply: dict[str, Any]) -> list[str]:
    text = str(reply.get("hookSpecificOutput", {}).get("additionalContext", ""))
    return [
        line.split("]")[0].removeprefix("- [")
        for line in text.splitlines()
        if line.startswith("- [")
    ]


def test_a_question_shows_the_record_that_answers_it_once(workspace: Path, call: Call) -> None:
    assert ids(call("UserPromptSubmit", prompt=QUESTION)) == ["L-00011"]
    assert ids(call("UserPromptSubmit", prompt=QUESTION)) == []


def test_records_of_words_come_before_those_of_paths(workspace: Path, call: Call) -> None:
    assert ids(call("UserPromptSubmit", prompt=f"{QUESTION} See src/a.py")) == [
        "L-00011",
        "L-00001",
        "L-00002",
        "L-00003",
    ]


@pytest.mark.parametrize(
    "prompt",
    [
        "continue",
        "please fix it",
        "How long should I boil eggs so that the yolk stays soft?",
        "invoice",
    ],
)
def test_what_names_nothing_of_the_project_is_met_with_silence(
    workspace: Path, call: Call, prompt: str
) -> None:
    assert call("UserPromptSubmit", prompt=prompt) == {}


def test_the_score_that_is_asked_for_can_be_set(workspace: Path, call: Call) -> None:
    configure(workspace, "push: {min_relevance: 1}\n")
    bring_up_to_date(workspace)
    assert call("UserPromptSubmit", prompt=QUESTION) == {}


@pytest.mark.parametrize(
    "prompt",
    [
        "invoice retry " * 80_000,
        "\x00\x01\x1f\x7f" * 1000,
        "請求書の再試行" * 20_000,
        "\ud800 invoice \udfff retry",
        "aBc9" * 250_000,
    ],
)
def test_hostile_prompts_end_well_and_in_time(workspace: Path, prompt: str) -> None:
    payload = {
        "cwd": str(workspace),
        "session_id": "h",
        "hook_event_name": "UserPromptSubmit",
        "prompt": prompt,
    }
    run_client(workspace, json.dumps(payload).encode(), ORBIT_HOOK_DEADLINE_MS="2000")
    ends = [(event["skip_reason"] == "deadline", event.get("fault")) for event in events(workspace)]
    assert ends == [(False, None)]
