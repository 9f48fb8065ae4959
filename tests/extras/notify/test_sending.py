"""What leaves the machine where somebody asks for it: spans of events, and messages to people;
by real receivers.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.cli.receiving import Receiver, orbit, receiving

from orbit_registry.hook import events
from orbit_registry.hook.events import CAPTURED, SYNCED, Event, append
from orbit_registry.hook.project import index_file

pytestmark = pytest.mark.filterwarnings("ignore:.imghdr. is deprecated")  # which apprise imports
TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[Receiver]:
    with receiving(tmp_path / "received") as result:
        yield result


def write(root: Path, name: str, at: float, session: str = "s-1", **members: Any) -> None:
    event = Event("hook:PreToolUse", at)
    event.name, event.session, event.agent, event.ms = name, session, "claude", 2.5
    for key, value in members.items():
        setattr(event, key, value)
    append(str(root), event)


def spans(receiver: Receiver) -> list[Any]:
    """Return the spans that came, as OTLP's own messages;
    the address of each request is asserted.
    """
    service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    result = []
    for path, body in receiver.taken():
        assert path == "_v1_traces"
        request = service.ExportTraceServiceRequest()
        request.ParseFromString(body)
        (resource,) = request.resource_spans
        assert {entry.key for entry in resource.resource.attributes} == {
            "service.name",
            "orbit.project",
        }
        result += [span for scope in resource.scope_spans for span in scope.spans]
    return result


def said_of(span: Any) -> dict[str, Any]:
    def value(item: Any) -> Any:
        kind = item.WhichOneof("value")
        return (
            [value(inner) for inner in item.array_value.values]
            if kind == "array_value"
            else getattr(item, kind)
        )

    return {
        attribute.key.removeprefix("orbit."): value(attribute.value)
        for attribute in span.attributes
    }


def test_selections_captures_and_syncs_are_spans(shell: Any, receiver: Receiver) -> None:
    spans(receiver)
    leap, other = (
        shell.data("learning", "add", "--summary", text)["id"] for text in ("Leap", "Look twice")
    )
    (shell.root / ".orbit/state/log/events.jsonl").unlink(missing_ok=True)
    write(
        shell.root,
        "retrieval",
        1_790_000_000,
        query=["src/hidden.py"],
        hits=[leap, "L-0mine"],
        withheld=["L-0mine"],
        tokens=40,
    )
    write(shell.root, "retrieval", 1_790_000_001, skip_reason="no match")
    write(shell.root, "stop", 1_790_000_002)
    write(shell.root, CAPTURED, 1_790_000_003, session="s-2", opened=[other], details={"turns": 7})
    write(
        shell.root,
        SYNCED,
        1_790_000_004,
        session="",
        fault="index",
        details={"built": True, "records": 3},
    )

    done = orbit(shell, "events", "export", "--endpoint", f"http://{receiver.address}")
    assert (done.returncode, done.stdout) == (0, "4 spans sent\n"), done.stderr
    raw = b"".join(file.read_bytes() for file in receiver.folder.glob("*.body"))
    assert b"hidden" not in raw
    assert b"mine" not in raw
    result = spans(receiver)
    assert [entry.name for entry in result] == [
        "orbit.selection",
        "orbit.selection",
        "orbit.capture",
        "orbit.sync",
    ]
    assert [entry.end_time_unix_nano - entry.start_time_unix_nano for entry in result] == [
        2_500_000
    ] * 4
    assert result[0].start_time_unix_nano == 1_790_000_000_000_000_000
    assert [entry.status.code for entry in result] == [1, 1, 1, 2]
    assert (result[0].trace_id == result[1].trace_id, result[0].trace_id == result[2].trace_id) == (
        True,
        False,
    )
    first, second, third, last = map(said_of, result)
    assert first == {
        "surface": "hook:PreToolUse",
        "session": "s-1",
        "agent": "claude",
        "hits": [leap],
        "count": 2,
        "omitted": 0,
        "tokens": 40,
        "withheld": [],
    }
    assert (second["skip_reason"], second["hits"]) == ("no match", [])
    assert (third["ids"], third["turns"]) == ([other], 7)
    assert (last["built"], last["records"], last["fault"]) == (True, 3, "index")


def test_a_span_is_sent_until_it_arrives_once(shell: Any, receiver: Receiver) -> None:
    spans(receiver)
    where = ["events", "export", "--endpoint", f"http://{receiver.address}/v1/traces"]
    write(shell.root, "retrieval", 1_790_000_000)
    receiver.refuse(True)
    refused = orbit(shell, *where)
    assert refused.returncode == 1
    first, _ = refused.stderr.splitlines()
    assert first == f"error: {where[-1]} did not take the spans: it answers 400"
    receiver.refuse(False)
    assert orbit(shell, *where).stdout == "1 span sent\n"
    assert orbit(shell, *where).stdout == "0 spans sent\n"
    (first,) = spans(receiver)
    write(shell.root, "retrieval", 1_790_000_001)
    log = shell.root / ".orbit/state/log"
    (log / events.NAME).rename(log / events.FILES[-2])
    write(shell.root, "retrieval", 1_790_000_002)
    assert orbit(shell, *where).stdout == "2 spans sent\n"
    later = spans(receiver)
    assert orbit(shell, *where, "--all").stdout == "3 spans sent\n"
    assert [entry.span_id for entry in spans(receiver)] == [
        entry.span_id for entry in (first, *later)
    ]


def test_nothing_is_sent_unless_somebody_says_where_to(
    shell: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(shell.root, "retrieval", 1_790_000_000)
    assert shell("events", "export")[0] == 2
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    code, _, error = shell("events", "export", "--endpoint", "http://127.0.0.1:9")
    assert (code, "orbit-registry[otel]" in error) == (2, True)
    program = (
        "import sys; from orbit_registry.doors.cli.main import run; run(['events', 'tail']); "
        "run(['watchdog']); "
        "run(['queue']); "
        "sys.exit(any(one.startswith(('opentelemetry', 'apprise')) for one in sys.modules))"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", program], cwd=shell.root, capture_output=True
        ).returncode
        == 0
    )


def told(receiver: Receiver) -> list[tuple[str, str]]:
    messages = [json.loads(body) for _, body in receiver.taken()]
    return [(entry["title"], entry["message"]) for entry in messages]


def waiting(shell: Any, summary: str) -> str:
    return str(shell.learn(summary, "--pending", "--yes"))


def test_what_waits_is_told_once_with_the_commands_that_decide(
    shell: Any, receiver: Receiver
) -> None:
    pytest.importorskip("apprise")
    where = {"ORBIT_NOTIFY_URLS": f"json://{receiver.address}/hook"}
    first = waiting(shell, "Wait <b>before</b> you ask")
    receiver.refuse(True)
    refused = orbit(shell, "queue", "--notify", **where)
    assert (refused.returncode, "could be told" in refused.stderr) == (1, True)
    receiver.refuse(False)
    done = orbit(shell, "queue", "--kind", "learning", "--notify", **where)
    assert (done.returncode, first in done.stdout, "1 told" in done.stderr) == (0, True, True), (
        done.stderr
    )
    ((title, text),) = told(receiver)
    assert title.endswith(": queue")
    assert "Wait <b>before</b> you ask" in text
    assert f"orbit accept {first}\n" in text
    assert f"orbit reject {first} --reason WHY" in text
    second = waiting(shell, "Ask only once a day")
    assert orbit(shell, "queue", "--kind", "learning", "--notify", **where).returncode == 0
    ((_, text),) = told(receiver)
    assert (second in text, first in text) == (True, False)
    assert orbit(shell, "queue", "--kind", "learning", "--notify", **where).returncode == 0
    assert told(receiver) == []


def test_a_finding_of_the_watchdog_is_sent_once_each_time(shell: Any, receiver: Receiver) -> None:
    pytest.importorskip("apprise")
    where = {"ORBIT_NOTIFY_URLS": f"json://{receiver.address}"}
    looks = ["watchdog", "--once", "--notify"]
    index = Path(index_file(str(shell.root)))
    texts = []
    for missing in (True, True, False, True):
        if missing:
            index.unlink(missing_ok=True)
        assert orbit(shell, *looks, **where).returncode == 0
        texts.append([text for _, text in told(receiver)])
    assert [len(entry) for entry in texts] == [1, 0, 0, 1]
    assert "derived-missing" in texts[0][0]


def test_no_address_is_printed(shell: Any) -> None:
    pytest.importorskip("apprise")
    waiting(shell, "Wait before you ask")
    unknown = orbit(shell, "queue", "--notify", ORBIT_NOTIFY_URLS=f"nonsense://user:{TOKEN}@host")
    assert (unknown.returncode, "address 1" in unknown.stderr) == (2, True)
    assert TOKEN not in unknown.stdout + unknown.stderr


def test_without_an_address_it_is_a_wrong_call(shell: Any) -> None:
    for command in (["queue"], ["queue", "--kind", "rule"], ["watchdog", "--once"]):
        none = orbit(shell, *command, "--notify", ORBIT_NOTIFY_URLS="")
        assert (none.returncode, "ORBIT_NOTIFY_URLS" in none.stderr) == (2, True)


@pytest.mark.parametrize(
    "endpoint", ["NONSENSE", "ftp://x", "http://", "http://[::1", "http://a:b"]
)
def test_what_is_no_address_of_http_is_refused(shell: Any, endpoint: str) -> None:
    write(shell.root, "retrieval", 1_790_000_000)

    refused = orbit(shell, "events", "export", "--endpoint", endpoint)

    message, hint = refused.stderr.splitlines()
    assert message.startswith("error: ")
    assert "is not an address of HTTP" in message
    assert hint == "  hint: for example http://localhost:4318"
    assert refused.returncode == 2


def test_where_nobody_listens_two_lines_say_so(shell: Any) -> None:
    write(shell.root, "retrieval", 1_790_000_000)

    refused = orbit(shell, "events", "export", "--endpoint", "http://127.0.0.1:9")

    assert len(refused.stderr.splitlines()) == 2
    assert "/v1/traces did not take the spans: nothing answers" in refused.stderr
