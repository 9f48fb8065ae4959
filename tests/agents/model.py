"""A model on loopback: it asks for the tools that a test lists, one a turn, and keeps what it was
sent.

It speaks what the vendors publish: Anthropic's messages, OpenAI's responses, Google's content. It
judges nothing.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = Mapping[str, Any]
Tool = tuple[str, Mapping[str, Any]]
"""The name of a tool, behind its namespace and a slash where it has one,
and what it is called with.
"""


@dataclass
class Model:
    """What the model still asks for, what it was sent, and where it listens."""

    tools: list[Tool]
    sent: list[Body] = field(default_factory=list)
    """The requests of turns that had tools, in order."""
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def told(self) -> list[str]:
        return [json.dumps(body, ensure_ascii=False) for body in self.sent]

    def next(self, body: Body) -> Tool | None:
        """Keep a turn's request and return the tool to ask for;
        None where it is done, or the turn has no tools.
        """
        if not body.get("tools"):
            return None
        self.sent.append(body)
        return self.tools.pop(0) if self.tools else None


def anthropic(model: Model, body: Body) -> Sequence[Body]:
    tool = model.next(body)
    block = (
        {"type": "tool_use", "id": f"toolu_{len(model.sent):04d}", "name": tool[0], "input": {}}
        if tool
        else {}
    )
    block = block or {"type": "text", "text": ""}
    delta = (
        {"type": "input_json_delta", "partial_json": json.dumps(tool[1])}
        if tool
        else {"type": "text_delta", "text": "done"}
    )
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    end = {"stop_reason": "tool_use" if tool else "end_turn", "stop_sequence": None}
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]


def openai(model: Model, body: Body) -> Sequence[Body]:
    tool = model.next(body)
    name = f"item_{len(model.sent)}"
    namespace, _, called = tool[0].rpartition("/") if tool else ("", "", "")
    output = {"type": "output_text", "text": "done", "annotations": []}
    item = (
        {
            "type": "function_call",
            "name": called,
            "arguments": json.dumps(tool[1]),
            "call_id": f"call_{name}",
        }
        | ({"namespace": namespace} if namespace else {})
        if tool
        else {"type": "message", "role": "assistant", "content": [output]}
    ) | {"id": name, "status": "completed"}
    usage = {
        "input_tokens": 1,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 2,
    }
    response = {
        "id": f"resp_{name}",
        "object": "response",
        "status": "completed",
        "output": [item],
        "usage": usage,
    }
    return [
        {
            "type": "response.created",
            "response": {**response, "status": "in_progress", "output": []},
        },
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    ]


def google(model: Model, body: Body) -> Sequence[Body]:
    tool = model.next(body)
    part = {"functionCall": {"name": tool[0], "args": tool[1]}} if tool else {"text": "done"}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    return [{"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-2.5-flash"}]


PROTOCOLS: Mapping[str, Callable[[Model, Body], Sequence[Body]]] = {
    "/messages": anthropic,
    "/responses": openai,
    "GenerateContent": google,
}
"""How a request's address tells its protocol."""


@contextmanager
def listening(tools: Sequence[Tool]) -> Iterator[Model]:
    """Yield a model that asks for these tools; it listens until the block ends."""
    model = Model(list(tools))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(b"{}", "application/json")

        def do_POST(self) -> None:
            body = json.loads(self._body() or b"{}")
            speak = next((speak for part, speak in PROTOCOLS.items() if part in self.path), None)
            if speak is None or "count_tokens" in self.path:
                self._answer(b'{"input_tokens": 1}', "application/json")
                return
            names = "".join(
                f"event: {message['type']}\ndata: {json.dumps(message)}\n\n"
                if "type" in message
                else f"data: {json.dumps(message)}\n\n"
                for message in speak(model, body)
            )
            self._answer(names.encode(), "text/event-stream")

        def log_message(self, format: str, *args: object) -> None:
            pass

        def _body(self) -> bytes:
            if self.headers.get("transfer-encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("content-length") or 0))
            parts: list[bytes] = []
            while size := int(self.rfile.readline().strip() or b"0", 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

        def _answer(self, content: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
