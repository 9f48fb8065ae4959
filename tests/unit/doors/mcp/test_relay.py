"""What passes between a client and a server:
every byte, but for what is put beside the result of a call.
"""

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.doors.mcp.proxy import (
    FAULTS,
    FIELD,
    LARGEST,
    META,
    MOST_PENDING,
    Pending,
    PendingCall,
    Requests,
    Results,
    UnreadableError,
    admits_field,
    with_records,
)

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
NAMES = ("jsonrpc", "id", "method", "params", "result", "error")
MESSAGES = st.one_of(
    st.dictionaries(
        st.sampled_from(NAMES), VALUES | st.sampled_from([1, "1", "tools/call", "tools/list"])
    ),
    st.builds(
        lambda key, name: call(key, name),
        st.sampled_from([1, "1", 2]),
        st.sampled_from(["read", ""]),
    ),
    st.builds(
        lambda key, value: {"id": key, "result": {"content": value}},
        st.sampled_from([1, "1", 2]),
        VALUES,
    ),
    VALUES,
)
LINES = st.one_of(
    st.binary(max_size=40),
    st.builds(
        lambda message, space: json.dumps(message, indent=space).encode(), MESSAGES, st.none()
    ),
    st.sampled_from([b"", b"\r", b'{"id":1,"id":1,"result":{}}', b'{"id":1,"result":{}} x']),
    st.sampled_from(
        [b'{"id":1,"result":' + b"[" * 5000, b'\xef\xbb\xbf{"id":1,"result":{"content":[]}}']
    ),
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\n\n"])


def call(key: object, tool: str = "read", **arguments: object) -> dict[str, object]:
    return {
        "jsonrpc": "2.0",
        "id": key,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }


def sent(message: object) -> bytes:
    return json.dumps(message).encode() + b"\n"


def chunks(content: bytes, cuts: Sequence[int]) -> list[bytes]:
    places = sorted({0, len(content), *(cut % (len(content) + 1) for cut in cuts)})
    return [content[start:end] for start, end in pairwise(places)]


def unchanged(_message: object, _request: PendingCall) -> str:
    return ""


@given(
    st.lists(st.tuples(LINES, ENDS)),
    st.lists(LINES, max_size=4),
    LINES,
    st.lists(st.integers(0), max_size=12),
)
def test_every_byte_passes_in_its_order_whatever_it_is(
    messages: list[tuple[bytes, bytes]], lines: list[bytes], last: bytes, cuts: list[int]
) -> None:
    pending = Pending()
    requests, results = Requests(pending), Results(pending, unchanged)
    for line in lines:
        requests.feed(line + b"\n")
    answer = b"".join(line + end for line, end in messages) + last
    got = b"".join(results.feed(chunk) for chunk in chunks(answer, cuts)) + results.end()
    assert got == answer
    assert results.end() == b""


@given(st.binary(min_size=1), st.lists(st.integers(0), max_size=8))
def test_nothing_is_held_where_nobody_waits(content: bytes, cuts: list[int]) -> None:
    results = Results(Pending(), unchanged)
    assert [results.feed(chunk) for chunk in chunks(content, cuts)] == chunks(content, cuts)


def test_a_call_is_known_before_its_last_byte_goes_on() -> None:
    answer = sent(call(7, path="src/a.py"))
    for cut in range(len(answer)):
        pending = Pending()
        requests = Requests(pending)
        requests.feed(answer[:cut])
        assert len(pending) == 0
        requests.feed(answer[cut:])
        assert pending.take(7) == PendingCall("read", {"path": "src/a.py"})


@pytest.mark.parametrize(
    "line",
    [
        {"id": 1, "method": "tools/call", "params": {"name": 5}},
        {"id": 1, "method": "tools/call", "params": {"name": "x", "arguments": []}},
        {"id": True, "method": "tools/call", "params": {"name": "x"}},
        {"id": 1.5, "method": "tools/call", "params": {"name": "x"}},
        {"id": None, "method": "tools/call", "params": {"name": "x"}},
        {"method": "tools/call", "params": {"name": "x"}},
        {"id": 1, "method": "ping", "params": {"said": "tools/call"}},
        [call(1)],
    ],
)
def test_what_is_no_call_is_not_waited_for(line: object) -> None:
    pending = Pending()
    Requests(pending).feed(sent(line))
    assert len(pending) == 0


def test_an_id_is_what_it_is_written_as() -> None:
    pending = Pending()
    requests = Requests(pending)
    requests.feed(sent(call(1, "a")) + sent(call("1", "b")))
    calls = [PendingCall("b", {}), PendingCall("a", {}), *[None] * 4]
    assert [pending.take(key) for key in ("1", 1, 1, True, None, [])] == calls


def test_calls_that_are_never_answered_are_forgotten_in_the_end() -> None:
    pending = Pending()
    requests = Requests(pending)
    for number in range(MOST_PENDING + 5):
        requests.feed(sent(call(number)))
    assert (len(pending), pending.take(4), pending.take(5)) == (
        MOST_PENDING,
        None,
        PendingCall("read", {}),
    )
    before = len(pending)
    requests.feed(sent(call("big", held="x" * LARGEST)))
    assert len(pending) == before


def test_a_huge_result_goes_on_in_pieces() -> None:
    pending = Pending()
    Requests(pending).feed(sent(call(1)) + sent(call(2)))
    results = Results(pending, lambda message, request: "changed")
    piece = b"x" * (1 << 20)
    got = [results.feed(piece) for _ in range(6)]
    assert b"".join(got) == piece * 6
    assert got[-1] == piece
    assert results.feed(b"\n" + sent({"id": 2, "result": {"content": []}})) == b"\nchanged\n"


@pytest.mark.parametrize("fault", [*FAULTS, UnreadableError])
def test_a_fault_of_ours_lets_the_message_pass(fault: type[Exception]) -> None:
    def broken(_message: object, _request: PendingCall) -> str:
        raise fault

    pending = Pending()
    Requests(pending).feed(sent(call(1)))
    line = sent({"id": 1, "result": {"content": []}})
    assert Results(pending, broken).feed(line) == line


@pytest.mark.parametrize(
    "message",
    [
        {"id": 2, "result": {"content": []}},
        {"id": 1, "error": {"code": 1, "message": "no"}},
        {"id": 1, "method": "sampling/createMessage", "result": {"content": []}},
        {"id": 1, "result": [1]},
        {"id": 1, "result": {"resultType": "input_required", "content": []}},
    ],
)
def test_only_the_result_of_a_call_is_decided_about(message: object) -> None:
    pending = Pending()
    Requests(pending).feed(sent(call(1)))
    line = sent(message)
    assert Results(pending, lambda message, request: "changed").feed(line) == line


RESULTS = st.fixed_dictionaries(
    {"content": st.lists(VALUES, max_size=3)},
    optional={
        "_meta": st.dictionaries(st.text(max_size=3), VALUES, max_size=2),
        "structuredContent": VALUES,
        "isError": st.booleans(),
        "x": VALUES,
    },
)
LEARNINGS = [{"id": "L-1", "text": "- [L-1] “q”\n"}]


@given(RESULTS, st.booleans())
def test_what_is_added_leaves_everything_else_as_it_was(
    result: dict[str, Any], structured: bool
) -> None:
    message = {"id": 1, "result": result, "jsonrpc": "2.0"}
    filled = json.loads(with_records(message, "notes", LEARNINGS, structured=structured))
    changed = filled["result"]
    assert changed["content"].pop()["text"] == "notes"
    assert changed["_meta"].pop(META) == LEARNINGS
    if "_meta" not in result:
        assert changed.pop("_meta") == {}
    current = result.get("structuredContent")
    if structured and isinstance(current, dict) and FIELD not in current:
        assert changed["structuredContent"].pop(FIELD) == LEARNINGS
    assert filled == message


@pytest.mark.parametrize(
    ("members", "is_decided"),
    [
        ('"a": 0.5, "b": 1e-7, "c": 1.50, "d": 12345678901234567890', True),
        ('"a": 1, "a": 2', False),
        ('"a": {"b": 1, "b": 1}', False),
        ('"a": 0.12345678901234567890', False),
        ('"a": 1e400', False),
        ('"a": NaN', False),
        ('"a": -Infinity', False),
    ],
)
def test_a_result_that_json_can_not_repeat_exactly_passes_as_it_is(
    members: str, is_decided: bool
) -> None:
    pending = Pending()
    Requests(pending).feed(sent(call(1)))
    line = f'{{"id": 1, "result": {{"content": [], {members}}}}}\n'.encode()
    assert Results(pending, lambda message, request: "changed").feed(line) == (
        b"changed\n" if is_decided else line
    )
    assert len(pending) == 0


@pytest.mark.parametrize(
    ("schema", "admits"),
    [
        (None, True),
        ({"type": "object", "properties": {"a": {}}}, True),
        ({"type": "object", "additionalProperties": True}, True),
        ({"type": "object", "additionalProperties": False}, False),
        ({"type": "object", "additionalProperties": {"type": "string"}}, False),
        ({"type": "object", "properties": {"learnings": {"type": "string"}}}, False),
        ({"type": "object", "unevaluatedProperties": False}, False),
        ({"type": "object", "maxProperties": 1}, False),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"additionalProperties": False}}}, False),
        ({"allOf": [{"additionalProperties": False}]}, False),
        (True, False),
    ],
)
def test_a_field_is_added_only_where_schemas_allow_it(schema: object, admits: bool) -> None:
    """A word of a schema that could forbid it is taken as if it did."""
    assert admits_field(schema) is admits
    pending = Pending()
    Requests(pending).feed(sent({"id": 1, "method": "tools/list"}))
    answer = sent(
        {"id": 1, "result": {"tools": [{"name": "a", "outputSchema": schema}, {"name": 1}, None]}}
    )
    assert Results(pending, unchanged).feed(answer) == answer
    assert (pending.admits("a"), pending.admits("b")) == (admits, False)
