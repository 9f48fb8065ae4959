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


SUBJECTS = (
    "Keep sessions in the process and never in a shared store",
    "Number invoices in the database and leave no gap",
    "Write uploads to a temporary file before they are moved",
    "Round prices once, at the end of a basket",
    "Close the printer's queue before its driver is replaced",
    "Read the calendar of a guest in his own time zone",
    "Draw thumbnails in three widths and remember their hashes",
    "Send one mail a day and collect the warnings",
    "Lock the seat until the payment is confirmed",
    "Parse dates with the standard library alone",
    "Cache translations by language and release",
    "Keep passwords out of the crash report",
    "Test the importer against a copy of production",
    "Ask the sensor twice before an alarm",
    "Sort search results by age when they are equal",
    "Wait for the replica before a report is drawn",
    "Encode the labels of parcels as one line",
    "Delete a customer in all regions within a day",
    "Start workers with an empty environment",
    "Measure the battery with the screen switched off",
    "Stop the elevator on an unknown floor",
)
POLITE = (
    " There is no need to hurry with this, so take all the time that you want. Explain in short "
    "sentences what you did and why you did it in that way. If you are not sure about something, "
    "ask me before you go on. Thank you very much, it is really appreciated."
)


@pytest.mark.parametrize(
    ("sentence", "answer"),
    [
        ("Users lose their sessions when the process restarts.", "L-00021"),
        ("There is a gap between two invoices of May.", "L-00022"),
        ("A price in the basket is rounded differently on two pages.", "L-00024"),
        ("The thumbnails of the gallery have a wrong width, and their hashes differ.", "L-00027"),
        ("Two people have bought one seat while a payment was open.", "L-00029"),
        ("The crash report of a customer has a password in it.", "L-00032"),
        ("The alarm went off although the sensor was only loose.", "L-00034"),
        ("A worker sees variables of the environment of its parent.", "L-00039"),
    ],
)
def test_polite_sentences_do_not_silence_a_prompt(
    root: Path, call: Call, sentence: str, answer: str
) -> None:
    for number, summary in enumerate(SUBJECTS, 21):
        write_learning(root, number, summary=summary, scope={"paths": ["lib/**"]})
    bring_up_to_date(root)

    assert answer in ids(call("UserPromptSubmit", session="short", prompt=sentence))
    assert answer in ids(call("UserPromptSubmit", session="long", prompt=sentence + POLITE))
    assert call("UserPromptSubmit", session="polite", prompt=POLITE) == {}
