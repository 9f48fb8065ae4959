"""Calls of the tools, without the protocol:
what they answer, what they refuse, and the page that lists them.
"""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import types
from tests.extras.enforce.test_run import NO_PRINT, decide
from tests.files import commit, configure, events, write

from orbit_registry.doors.answers.call import Caller
from orbit_registry.doors.cli.main import run
from orbit_registry.doors.mcp import prompts
from orbit_registry.doors.mcp.dispatch import LONGEST_ANSWER, Reply, UnknownToolError, reply
from orbit_registry.doors.mcp.operations import spoken_as_calls
from orbit_registry.doors.mcp.server import listed_tool as as_listed
from orbit_registry.doors.mcp.server import open_registry
from orbit_registry.doors.mcp.tools import ALIASES, PREFIX, available_tools, listed_tools
from orbit_registry.errors import WorkspaceNotFoundError
from orbit_registry.hook.index import Index
from orbit_registry.hook.session import SessionLog
from orbit_registry.matching.index import open_index
from orbit_registry.model.fields import ID
from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.adr import NewAdr, add_adr
from orbit_registry.operations.init import setup_workspace
from orbit_registry.registry import Registry
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.workspace import open_workspace

LAYOUT = {
    "id": "layout",
    "path": {"of": ["src/tmp/**"]},
    "passes": ["src/a.py"],
    "fails": ["src/tmp/a.py"],
}
GUIDE = "\n\n".join(
    f"## Part {name}\n\n{f'All of {name}. ' * 120}" for name in ("start", "rollback", "end")
)
PERSON = Author("Ada Example", "human")
BODY = (
    "## Context\n\nWe pay twice.\n\n## Decision\n\nOne cache.\n\n## Consequences\n\n- Cost: "
    "a server to run.\n"
)
ENVELOPE = Draft202012Validator(
    json.loads((Path(__file__).parents[4] / "docs/schemas/envelope.schema.json").read_text("utf-8"))
)
Call = Callable[..., Reply]


@pytest.fixture(scope="module")
def _filled(_first_commit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make one project with two learnings, for `root` to copy."""
    root = Path(shutil.copytree(_first_commit, tmp_path_factory.mktemp("calls") / "repo"))
    write(root, "src/a.py", "")
    commit(root, "Begin")
    Registry.init(root)
    registry = Registry.open(root)
    for summary in ("Uploads are retried with a fresh token", "Cache entries expire after an hour"):
        registry.add(
            "learning",
            {"summary": summary, "body": "Seen twice.", "scope": {"paths": ["src/**"]}},
            PERSON,
        )
    return root


@pytest.fixture
def root(_filled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(_filled, tmp_path / "repo"))


@pytest.fixture
def call(root: Path) -> Call:
    """Return what calls a tool as an agent in a session of this test's own."""

    def called(name: str, **arguments: object) -> Reply:
        result = reply(
            name, arguments, Caller("some-agent", "session"), lambda: Registry.open(root)
        )
        assert list(ENVELOPE.iter_errors(dict(result.structured))) == []
        assert result.structured["ok"] is not result.is_error
        return result

    return called


def data(answer: Reply) -> Any:
    """Return an answer's data; a refusal has none."""
    assert not answer.is_error, answer.text
    return answer.structured["data"]


def learnings(root: Path) -> list[str]:
    result = Registry.open(root).collection.records.of_kind("learning")
    return [record.id for record in sorted(result, key=lambda record: record.phase != "live")]


def test_a_search_gives_snippets_and_show_the_whole(call: Call, root: Path) -> None:
    (hit,) = data(call("search", query="token"))["hits"]

    assert set(hit) == {"id", "score", "title", "kind", "versions", "snippet", "matched"}
    assert len(hit["snippet"]) <= 150
    assert "Seen twice." in data(call("show", id=hit["id"]))["body"]


def test_a_bug_is_answered_in_the_envelope(capsys: pytest.CaptureFixture[str]) -> None:
    def broken() -> Registry:
        raise ZeroDivisionError("a bug")

    answer = reply("search", {"query": "x"}, Caller("some-agent", "session"), broken)

    assert answer.is_error
    assert list(ENVELOPE.iter_errors(dict(answer.structured))) == []
    assert answer.structured["error"] == "orbit failed: ZeroDivisionError: a bug"
    assert "Traceback" in capsys.readouterr().err


def test_an_answer_has_the_data_of_the_command_line(
    call: Call, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)
    for arguments, result in (
        (["search", "token"], call("search", query="token")),
        (["match", "src/a.py"], call("match", paths=["src/a.py"])),
    ):
        assert run([*arguments, "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out)["data"] == data(result)


def test_nothing_is_added_until_it_is_said_again(call: Call, root: Path) -> None:
    expected = {"kind": "learning", "fields": {"summary": "Uploads are retried with a new token"}}
    before = learnings(root)

    first = call("add", **expected, task="T-1")
    assert data(first)["written"] is False
    assert learnings(root) == before
    assert (
        first.structured["next"][0]
        == f'vote {{"id": "{data(first)["nearest"][0]["id"]}", "task": "T-1"}}'
    )

    second = data(call("add", **expected, confirm=True))
    assert (second["written"], second["status"], second["phase"]) == (True, "candidate", "pending")
    assert second["created_by"] == {"name": "some-agent", "role": "agent"}


def test_the_same_words_are_added_only_as_distinct(call: Call, root: Path) -> None:
    fields = {"summary": "Cache entries expire after an hour", "body": "Seen twice."}
    existing = next(
        entry.id
        for entry in Registry.open(root).collection.records
        if entry.title == fields["summary"]
    )

    refused = call("add", kind="learning", fields=fields, confirm=True)
    assert refused.is_error
    assert existing in refused.text
    assert data(call("orbit.learning.add", **fields, distinct_from=[existing]))["written"] is True


def test_an_alias_takes_the_fields_of_its_kind(call: Call, root: Path) -> None:
    added = data(call("orbit.adr.add", title="One cache", body=BODY, confirm=True))

    assert (added["id"], added["status"]) == ("ADR-0001", "proposed")
    assert "We pay twice." in (root / added["source"]["path"]).read_text("utf-8")
    assert data(call("orbit.adr.list"))["records"][0]["id"] == "ADR-0001"
    assert call("orbit.learning.show", id="ADR-0001").is_error


def test_what_waits_is_changed_and_linked(call: Call, root: Path) -> None:
    added = data(
        call(
            "orbit.learning.add",
            summary="Look twice",
            labels=["a"],
            scope={"tags": ["t"]},
            confirm=True,
        )
    )
    entry = learnings(root)[0]

    call(
        "update",
        id=added["id"],
        fields={"labels": None, "scope": {"paths": ["src/a.py"]}, "body": "Why."},
    )
    for _ in range(2):
        call("link", id=added["id"], rel="related_to", to=entry)

    output = data(call("show", id=added["id"]))
    assert "labels" not in output
    assert (output["scope"], output["body"]) == ({"paths": ["src/a.py"], "tags": ["t"]}, "Why.")
    assert output["links"] == [{"rel": "related_to", "to": entry}]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("supersede", {"fields": {"summary": "Not here"}}),
        ("update", {"fields": {"body": "Not here."}}),
        ("link", {"rel": "overrides"}),
    ],
)
def test_an_agent_does_not_override_an_inherited_record(
    call: Call, root: Path, tool: str, arguments: Any
) -> None:
    configure(root, "extends: [{name: org, from: ../org}]\n")
    entry = learnings(root)[0]
    copy = root / f".orbit/inherited/org/learnings/{entry}"
    shutil.copytree(root / f".orbit/learnings/{entry}", copy)
    file = copy / "learning.yaml"
    file.write_text(re.sub("(?m)^uid: .*", f"uid: {'a' * 32}", file.read_text("utf-8")), "utf-8")
    added = data(
        call("orbit.learning.add", summary="Look twice", scope={"tags": ["t"]}, confirm=True)
    )
    names = {"id": added["id"], "to": f"org:{entry}"} if tool == "link" else {"id": f"org:{entry}"}
    assert "orbit link ID overrides" in str(call(tool, **names, **arguments).structured)


def test_an_update_of_what_holds_proposes_another(call: Call, root: Path) -> None:
    entry = learnings(root)[0]
    file = root / f".orbit/learnings/{entry}/learning.yaml"
    before = file.read_bytes()
    expected = {"id": entry, "fields": {"body": "Seen three times."}}

    assert data(call("update", **expected))["written"] is False
    added = data(call("update", **expected, confirm=True))

    assert file.read_bytes() == before
    assert (added["phase"], added["body"]) == ("pending", "Seen three times.")
    assert added["links"] == [{"rel": "amends", "to": entry}]
    assert added["summary"] == data(call("show", id=entry))["summary"]


def test_a_replacement_is_a_new_or_pending_record(call: Call, root: Path) -> None:
    entry = learnings(root)[0]
    new = call(
        "supersede", id=entry, fields={"summary": "Tokens are renewed by the client"}, confirm=True
    )
    waits = data(call("orbit.learning.add", summary="Something else entirely", confirm=True))["id"]

    assert f"orbit learning supersede {entry} --with {data(new)['id']}" in new.text
    assert data(call("supersede", id=entry, by=waits))["links"] == [{"rel": "amends", "to": entry}]
    assert data(call("show", id=entry))["status"] == "active"


def test_a_replacement_of_a_decision_is_a_proposed_decision(call: Call, root: Path) -> None:
    add_adr(Registry.open(root).workspace, NewAdr("One cache", body=BODY), PERSON)

    assert "no `body`" in call("supersede", id="ADR-0001", fields={"title": "Two caches"}).text
    added = data(
        call("supersede", id="ADR-0001", fields={"title": "Two caches", "body": BODY}, confirm=True)
    )
    assert (added["status"], added["links"]) == ("proposed", [{"rel": "amends", "to": "ADR-0001"}])


def test_a_change_of_a_decision_takes_its_title_and_scope_along(call: Call, root: Path) -> None:
    old = NewAdr("One cache", body=BODY, paths=("src/**",), feature="cache", labels=("cost",))
    add_adr(Registry.open(root).workspace, old, PERSON)

    refused = call("add", id="ADR-0001", fields={"summary": "One cache for all"}, confirm=True)
    assert "`body`" in str(refused.structured["hint"])
    body = BODY.replace("One cache", "One cache for all")
    added = data(
        call(
            "add", id="ADR-0001", fields={"body": body, "scope": {"tags": ["cache"]}}, confirm=True
        )
    )

    assert (added["title"], added["status"], added["feature"]) == ("One cache", "proposed", "cache")
    assert (added["scope"], added["labels"]) == ({"paths": ["src/**"], "tags": ["cache"]}, ["cost"])
    assert added["links"] == [{"rel": "amends", "to": "ADR-0001"}]
    assert "One cache for all" in (root / added["source"]["path"]).read_text("utf-8")


def test_an_empty_search_lists(call: Call) -> None:
    assert data(call("search", query="")) == data(call("search"))


def test_records_that_apply_come_along_once_a_session(call: Call, root: Path) -> None:
    token = next(
        entry.id for entry in Registry.open(root).collection.records if "token" in entry.title
    )

    first = call("search", query="token", path="src/a.py")
    assert first.sidecar is not None
    assert [entry["id"] for entry in first.sidecar.learnings] == [
        entry for entry in learnings(root) if entry != token
    ]
    assert first.sidecar.text.startswith("<project-notes>")
    assert call("search", query="token", path="src/a.py").sidecar is None


def test_a_record_shown_whole_counts_as_opened(call: Call, root: Path) -> None:
    entry = learnings(root)[0]
    call("show", id=entry)

    (event,) = events(root, "opened")
    assert (event["surface"], event["session"], event["ids"]) == ("mcp:show", "session", [entry])


def test_a_change_on_disk_is_seen_by_the_next_call(call: Call, root: Path) -> None:
    entry = learnings(root)[0]
    file = root / f".orbit/learnings/{entry}/learning.yaml"
    text = file.read_text("utf-8")
    file.write_text(text.replace("Seen twice.", "Seen often."), "utf-8")
    assert "Seen often." in data(call("show", id=entry))["body"]

    file.write_text("summary: [", "utf-8")
    broken = call("show", id=entry)
    assert broken.is_error
    assert f"{entry} can't be read" in broken.text
    assert data(call("list"))["unread"] == [file.relative_to(root).as_posix()]

    config = root / ".orbit/config.yaml"
    current = config.read_text("utf-8")
    config.write_text("format: [", "utf-8")
    assert call("list").is_error
    config.write_text(current, "utf-8")
    file.write_text(text, "utf-8")
    assert data(call("list"))["unread"] == []


def test_arguments_are_held_to_the_schema(call: Call) -> None:
    assert "`id` is missing" in call("show").text
    assert "unknown field `kindd`" in call("search", query="x", kindd="adr").text
    assert "one of: id, depth, direction" in call("related", id="L-aaaaa", colour="red").text
    assert "`limit`" in call("search", query="x", limit=10_000).text
    assert "`id` is a number" in call("show", id=7).text
    assert "longer than" in call("add", kind="learning", fields={"body": "x" * 300_000}).text


def test_an_unknown_tool_is_no_answer(call: Call) -> None:
    with pytest.raises(UnknownToolError):
        call("orbit.adr.accept")


def test_a_text_that_is_empty_is_refused(call: Call, root: Path) -> None:
    entry = learnings(root)[0]
    for name, arguments in (
        ("show", {"id": ""}),
        ("vote", {"id": entry, "task": " "}),
        ("fail", {"target": "", "reason": "no browser"}),
        ("fail", {"target": "story:shop:S-1", "reason": ""}),
        ("match", {"paths": []}),
        ("match", {"paths": [""]}),
        ("add", {"fields": {"summary": "Look twice"}}),
        ("add", {"kind": "learning", "fields": {"summary": ""}}),
    ):
        assert call(name, **arguments).is_error, name


def test_a_question_in_sql_has_limits(call: Call) -> None:
    assert data(call("query", sql="SELECT * FROM range(10)", limit=3))["more"] is True
    assert (
        len(data(call("query", sql="SELECT repeat('x', 5000) AS long"))["rows"][0]["long"]) == 2_000
    )
    assert call("query", sql="DELETE FROM records").is_error
    endless = "SELECT count(*) FROM range(1000000) a, range(1000000) b, range(1000) c"
    assert "took more than" in call("query", sql=endless, seconds=0.05).text


def test_every_tool_says_what_it_takes() -> None:
    tools = available_tools().values()
    for tool in tools:
        Draft202012Validator.check_schema(tool.schema())
        assert tool.description
        assert all("description" in form for form in tool.properties.values()), tool.name


def test_the_list_of_tools_costs_little_context(root: Path) -> None:
    listed = listed_tools()
    assert [tool.name for tool in listed] == ["search", "show", "match", "brief", "add", "vote"]
    answer = types.ListToolsResult(tools=[as_listed(tool) for tool in listed])
    assert len(answer.model_dump_json(by_alias=True, exclude_none=True)) < 5_200
    with_aliases = {tool.name for tool in listed_tools(aliases=True)}
    assert {"orbit.search", "orbit.adr.add", "orbit.learning.vote"} <= with_aliases

    configure(root, "loop: {enabled: true}\n")
    with_loop = {tool.name for tool in listed_tools(workspace=open_workspace(root))}
    assert with_loop - {tool.name for tool in listed} == {"note", "fail", "retro", "queue"}


def test_a_call_may_give_what_the_list_leaves_out(call: Call) -> None:
    assert not call("search", query="uploads", context_tags="care", budget="lean").is_error
    assert not call("brief", text="Upload a file", purpose="prompt", task_class="qa").is_error


@pytest.mark.parametrize(
    "shape",
    [
        {"paths": ["lib/**"], "tags": ["care"]},
        {"scope": {"paths": ["lib/**"], "tags": ["care"]}},
        {"paths": ["lib/**"], "scope": {"tags": ["care"]}},
    ],
)
def test_paths_and_tags_are_in_the_scope_or_next_to_it(call: Call, shape: dict[str, Any]) -> None:
    fields = {"summary": "Lib needs care", **shape}
    written = data(call("add", kind="learning", fields=fields, confirm=True))
    assert written["scope"] == {"paths": ["lib/**"], "tags": ["care"]}


def test_paths_and_tags_may_be_next_to_the_fields(call: Call) -> None:
    fields = {"summary": "Lib needs care"}
    axes = {"paths": ["lib/**"], "tags": ["care"]}
    written = data(call("add", kind="learning", fields=fields, **axes, confirm=True))
    assert written["scope"] == axes
    changed = data(call("update", id=written["id"], fields={"body": "Often."}, paths=["src/**"]))
    assert changed["scope"] == {"paths": ["src/**"], "tags": ["care"]}


@pytest.mark.parametrize("tool", ["update", "supersede"])
def test_what_looks_alike_is_written_as_the_refusal_says(call: Call, root: Path, tool: str) -> None:
    first = data(call("orbit.learning.add", summary="Close each file", confirm=True))["id"]
    asked = {"id": learnings(root)[0], "fields": {"summary": "Close each file"}}
    refused = call(tool, **asked, confirm=True)
    assert f'"distinct_from": ["{first}"]' in refused.structured["hint"]
    assert data(call(tool, **asked, distinct_from=[first]))["written"] is True


def test_a_wrong_field_is_answered_with_an_example(call: Call) -> None:
    reply = call("add", kind="learning", fields={"summary": "x", "globs": ["src/**"]})
    assert reply.is_error
    assert 'for example {"summary": "…", "paths": ["src/**"]}' in reply.structured["hint"]


def test_a_call_without_a_kind_is_answered_with_an_example(call: Call) -> None:
    answer = call("add", fields={"summary": "Close each file"})
    assert '{"kind": "learning", "fields": {"summary"' in str(answer.structured["hint"])


def test_a_decision_with_an_open_ones_title_is_added_only_as_distinct(call: Call) -> None:
    fields = {"title": "Use one cache", "body": BODY}
    first = data(call("add", kind="adr", fields=fields, confirm=True))["id"]
    again = call("add", kind="adr", fields={**fields, "title": "use one CACHE"}, confirm=True)
    assert again.is_error
    assert again.structured["error"] == f"{first} (proposed) has the same title: Use one cache"
    assert f'"distinct_from": ["{first}"]' in str(again.structured["hint"])

    distinct = call("add", kind="adr", fields=fields, distinct_from=[first])
    assert data(distinct)["written"]


def test_an_agent_is_told_calls_and_no_commands_where_no_edit_shows_a_record(call: Call) -> None:
    fields = {"title": "Use one cache", "body": BODY}
    for answer in (
        call("add", kind="adr", fields=fields),
        call("add", kind="adr", fields=fields, confirm=True),
    ):
        assert "at no edit" in answer.text
        assert "`paths`" in answer.text or '"paths"' in answer.text
        assert "orbit adr update" not in answer.text
        assert "orbit scope suggest" not in answer.text


def test_what_no_edit_will_show_is_said(call: Call) -> None:
    text = call("add", kind="learning", fields={"summary": "Care for the lib"}, confirm=True).text
    assert "at no edit" in text


def test_a_brief_names_what_the_session_has(call: Call) -> None:
    assert data(call("match", paths=["src/a.py"]))["matches"]
    text = call("brief", paths=["src/a.py"]).text
    assert re.fullmatch(r"2 records apply; this session has them: L-\w{5}, L-\w{5}", text)


def test_a_note_answers_with_calls_of_tools(call: Call) -> None:
    reply = call("note", text="Uploads fail without a retry key", attempts=3, paths=["src/a.py"])
    assert "orbit " not in reply.text
    assert 'add {"kind": "learning", "fields": {"summary": "Uploads fail' in reply.text
    assert all("orbit " not in (ask["command"] or "") for ask in data(reply)["asks"])


def test_an_unknown_number_is_not_guessed(call: Call) -> None:
    reply = call("show", id="ADR-0099")
    assert reply.is_error
    assert "did you mean" not in json.dumps(reply.structured)


def test_work_is_noted_marked_and_looked_back_on(call: Call, root: Path) -> None:
    """An agent's retro and what it suggests wait for review; a secret is refused."""
    reply = call("note", text="Uploads fail without a retry key", attempts=3)
    assert [ask["kind"] for ask in data(reply)["asks"]][:1] == ["learning"]
    marked = call("fail", target="story:shop:S-1", reason="no browser", attempts=2)
    assert (data(marked)["holds"], data(marked)["attempts"]) == (True, 2)
    done = call("retro", loop="L-1", struggled=["The sandbox has no browser, so ask for one"])
    assert data(done)["retro"]["status"] == "draft"
    waiting = data(call("queue"))
    assert waiting["count"] >= 2
    assert {row["kind"] for row in waiting["records"]} >= {"retro", "learning"}
    assert {row["kind"] for row in data(call("queue", kind="retro"))["records"]} == {"retro"}
    assert call("note", text=f"the key is {'ghp_' + 'a1B2' * 9}").is_error


def test_a_plan_is_briefed_on_request(root: Path, call: Call) -> None:
    result = call("brief", purpose="plan")
    assert data(result)["active_loops"] == "unknown"
    assert "capacity: unknown of 1 free" in result.text
    assert [row["surface"] for row in events(root, "brief_plan")] == ["brief:plan"]
    assert "fresh token" in call("brief", paths=["src/a.py"]).text


def test_show_takes_the_name_of_a_chunk(
    root: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    (root / "guide.md").write_text(GUIDE, "utf-8")
    assert run(["import", "doc", "guide.md"]) == 0
    result = call("search", query="rollback")
    (hit,) = data(result)["hits"]
    name = f"{hit['id']}#{hit['chunk']['code']}"

    output = call("show", id=name)

    assert result.structured["next"] == [f'show {{"id": "{name}"}}']
    assert data(output)["chunk"] == hit["chunk"]
    assert "| ## Part rollback\n" in output.text
    assert "## Part start" not in output.text
    assert f"{hit['id']}#part-rollback" in call("show", id=f"{hit['id']}#part-rolback").text


def test_a_hint_names_tools_and_leaves_a_person_the_command(call: Call, root: Path) -> None:
    last = data(call("match", paths=["src/a.py"]))["matches"][-1]["id"]
    assert run(["-C", str(root), "learning", "retire", last, "--yes"]) == 0

    refused = call("vote", id=last, task="T-1").structured["hint"]
    assert refused == '`search {"kind": "learning"}` lists those that do'
    unknown = call("show", id="L-nnnnn").structured["hint"]
    assert unknown == '`search {"all": true}` shows the ids there are'
    assert last in call("search", all=True).text
    hints = {
        "`orbit show L-1`": '`show {"id": "L-1"}`',
        "`orbit learning vote L-1 --task T`": '`vote {"id": "L-1", "task": "T"}`',
        "a person runs `orbit adr supersede ADR-1 --with ADR-2`": "",
        "`orbit list`": "`search {}`",
        "`orbit adr list --all`": '`search {"kind": "adr", "all": true}`',
        "`orbit list --phase closed`": '`list {"phases": ["closed"]}`',
        "`orbit fleet show L-1`": "",
        "`orbit accept L-1`": "",
    }
    assert {hint: spoken_as_calls(hint) for hint in hints} == {
        hint: spoken or hint for hint, spoken in hints.items()
    }


def test_a_tools_change_is_indexed_before_its_answer(call: Call, root: Path) -> None:
    last = data(call("match", paths=["src/a.py"]))["matches"][-1]["id"]

    data(call("vote", id=last, task="T-1"))

    index = open_index(Registry.open(root).workspace)
    assert isinstance(index, Index)
    row = index.row(index.match("src/a.py")[0] >> 32)
    assert row.values[ID] == last


def test_a_text_is_checked_before_it_is_written(root: Path, call: Call) -> None:
    decide(root, NO_PRINT, {**LAYOUT, "level": "warning"}, number=7)
    decide(root, {**NO_PRINT, "id": "closed"}, status="rejected", number=8)
    allowed = "print(2)  # orbit: allow ADR-0007 because it is a script\n"

    result = call("check_text", path="src/new.py", text=f"x = 1\nprint(1)\n{allowed}")
    (finding,) = data(result)["findings"]
    assert (finding["check"], finding["line"]) == ("ADR-0007/no-print", 2)
    assert "orbit: allow ADR-0007 because …" in result.text
    assert (data(result)["checks"], data(result)["allowed"]) == (
        ["ADR-0007/no-print", "ADR-0007/layout"],
        1,
    )

    (misplaced,) = data(call("check_text", path="src/tmp/x.txt", text="print(1)"))["findings"]
    assert misplaced["check"] == "ADR-0007/layout"
    matched = call("match", paths=["src/new.py"], new_text="print(1)\n")
    assert [row["check"] for row in data(matched)["check"]["findings"]] == ["ADR-0007/no-print"]
    assert "orbit: allow ADR-0007 because …" in matched.text
    assert call("match", paths=["src/a.py", "src/b.py"], new_text="print(1)").is_error
    assert data(call("match", paths=["src/new.py"], new_text=""))["check"]["findings"] == []
    assert data(call("check_text", path="src/new.py", text="log(1)"))["findings"] == []


@pytest.fixture
def roots(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("one", "two words"):
        (tmp_path / name).mkdir()
        setup_workspace(tmp_path / name, load_kinds())
    return tmp_path / "one", tmp_path / "two words"


def test_a_project_that_was_named_is_the_one(
    roots: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(roots[1])
    assert open_registry(roots[0], [roots[1].as_uri()]).workspace.root == roots[0]


def test_the_first_root_with_a_workspace_counts(
    roots: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(roots[0])
    strange = ["https://example.org/x", "file://elsewhere/x", "file:///%00", "file:///", "nonsense"]

    assert open_registry(None, [*strange, roots[1].as_uri()]).workspace.root == roots[1]
    assert open_registry(None, strange).workspace.root == roots[0]


def test_nowhere_is_said_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WorkspaceNotFoundError) as error:
        open_registry(None, [])
    assert "orbit init" in error.value.hint


ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs/reference/mcp.md").read_text("utf-8")
ROW = re.compile(r"^\| `(\w+)` \| [^|]+ \| ([^|]*) \|$", re.MULTILINE)


def test_the_table_of_tools_is_the_servers() -> None:
    rows = {name: re.findall(r"`(\w+)`", arguments) for name, arguments in ROW.findall(PAGE)}

    general = [tool for name, tool in available_tools().items() if not name.startswith(PREFIX)]
    assert rows == {tool.name: list(tool.properties) for tool in general}


def test_every_tool_is_tried_by_the_inspector() -> None:
    called = [
        name
        for name, _ in json.loads((ROOT / "tests/cases/mcp/calls.json").read_text("utf-8"))["calls"]
    ]

    assert sorted(called) == sorted(available_tools())


def test_the_names_for_one_kind_are_told() -> None:
    text = " ".join(PAGE.split())
    assert f"`{PREFIX}search`" in text
    assert all(f"`{PREFIX}adr.{verb}`" in text for verb in ALIASES["adr"])
    assert (
        "`orbit.learning.` with " + ", ".join(f"`{verb}`" for verb in ALIASES["learning"][:-1])
        in text
    )
    assert all(f"`{name}`" in text for name in prompts.PROMPTS)
    assert f"{LONGEST_ANSWER:,} characters" in text


def test_what_another_surface_showed_is_not_shown_again(call: Call, root: Path) -> None:
    existing = learnings(root)
    ledger = SessionLog(str(root), "session")
    ledger.begin()
    ledger.add(existing[:1])
    ledger.end()

    output = data(call("brief", paths=["src/a.py"], task_class="code-gen"))["matches"]
    assert [entry["id"] for entry in output] == existing[1:]
    assert call("search", query="nothing", path="src/a.py").sidecar is None


def test_a_closed_record_is_named_as_closed_whatever_is_to_change(call: Call, root: Path) -> None:
    last = data(call("match", paths=["src/a.py"]))["matches"][-1]["id"]
    assert run(["-C", str(root), "learning", "retire", last, "--yes"]) == 0

    for fields in ({"summary": "Anything else"}, {"body": "No field of it"}):
        refused = call("add", id=last, fields=fields).structured
        assert refused["error"] == f"{last} is retired and is kept as it was"
