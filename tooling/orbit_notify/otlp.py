"""Events as OpenTelemetry spans over OTLP/HTTP, sent after the fact.

A span has ids of the project's records, counts, reasons and times; no path, no tag, no written text
and no personal record. Importing the libraries takes a quarter of a second, so it is done when
something is sent, and never by a hook.
"""

import hashlib
import importlib
import json
import logging
import os
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from orbit_registry.errors import ConfigError, DeliveryError, UsageError
from orbit_registry.hook.events import CAPTURED, RETRIEVAL, SYNCED
from orbit_registry.hook.project import private_folder
from orbit_registry.repository.reader import read_collection
from orbit_registry.workspace.event_log import LoggedEvent, LogScan, log_files, logged_events
from orbit_registry.workspace.files import read_object, write_atomic
from orbit_registry.workspace.workspace import Workspace

SPANS = {RETRIEVAL: "orbit.selection", CAPTURED: "orbit.capture", SYNCED: "orbit.sync"}
"""The events that are sent, and what their spans are called."""
ATTRIBUTES = (
    "surface",
    "session",
    "agent",
    "hits",
    "ids",
    "count",
    "omitted",
    "skip_reason",
    "fault",
    "tokens",
    "withheld",
    "built",
    "records",
    "digest",
    "turns",
)
"""The members of an event that a span has as its attributes, each where it is there."""
IDS = ("hits", "ids", "withheld")
"""Those that name records: what the project does not have is somebody's own, and is not named."""
MARK = "otlp.json"
BATCH = 512
TIMEOUT = 10.0
_PATH = "/v1/traces"
_LIBRARY = "opentelemetry"
_EXTRA = "install the extra `orbit-registry[otel]`"


def send(workspace: Workspace, endpoint: str, *, everything: bool = False) -> int:
    """Send what was not sent before, or everything; return how many spans."""
    mark = Path(private_folder(str(workspace.root), "log")) / MARK
    number, offset = (0, 0) if everything else _sent_position(mark, endpoint)
    parts = [(file, file.stat().st_ino) for file in log_files(workspace.state)]
    first = next((at for at, (_, inode) in enumerate(parts) if inode == number), 0)
    if not parts or parts[first][1] != number:
        offset = 0  # the file that was read up to there is gone

    met = LogScan(offset=offset)
    count = 0
    record_ids = frozenset(record.id for record in read_collection(workspace).records)
    batch: list[LoggedEvent] = []
    for event in logged_events([file for file, _ in parts[first:]], scan=met):
        if event.kind in SPANS:
            batch.append(event)
        if len(batch) == BATCH:
            count += _deliver(batch, workspace.name, record_ids, endpoint)
            batch = []

    count += _deliver(batch, workspace.name, record_ids, endpoint)
    if parts and met.files:
        inode = parts[first + len(met.files) - 1][1]
        write_atomic(mark, json.dumps({"endpoint": endpoint, "inode": inode, "place": met.offset}))

    return count


def endpoint_of(option: str | None) -> str:
    """Return the endpoint: the option, or that of OpenTelemetry's variables; empty for none."""
    base = option or os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "")
    traces = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "")
    if traces and not option:
        return traces
    if not base or base.endswith(_PATH):
        return base

    return base.rstrip("/") + _PATH


def refuse_endpoint(endpoint: str) -> None:
    """Raise where nothing can listen at an endpoint.

    Raises:
        UsageError: it is no address of HTTP.
    """
    try:
        parts = urlsplit(endpoint)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname)
        _ = parts.port
    except ValueError:  # brackets that do not close, a port that is no number
        is_address = False

    if not is_address:
        hint = "for example http://localhost:4318"
        raise UsageError(f"{endpoint!r} is not an address of HTTP", hint=hint)


class _Reason(logging.Handler):
    """What the library logs, in place of its lines on the standard error."""

    words = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the last line."""
        self.words = record.getMessage()


def _sent_position(mark: Path, endpoint: str) -> tuple[int, int]:
    stored = read_object(mark, limit=10_000)
    number, offset = stored.get("inode"), stored.get("place")
    if stored.get("endpoint") == endpoint and isinstance(number, int) and isinstance(offset, int):
        return number, offset

    return 0, 0  # nothing was sent, or the file is not ours


@cache
def _exporter(endpoint: str) -> Any:
    try:
        library = importlib.import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    except ImportError:
        raise ConfigError("the libraries of OpenTelemetry are not installed", hint=_EXTRA) from None
    return library.OTLPSpanExporter(endpoint=endpoint, timeout=TIMEOUT)


def _deliver(
    batch: Sequence[LoggedEvent],
    project: str,
    record_ids: Container[str],
    endpoint: str,
) -> int:
    if not batch:
        return 0

    exporter = _exporter(endpoint)
    spans = [_span(event, project, record_ids) for event in batch]
    logger, reason = logging.getLogger(_LIBRARY), _Reason()
    logger.addHandler(reason)
    logger.propagate = False
    try:
        is_sent = exporter.export(spans).name == "SUCCESS"
    finally:
        logger.removeHandler(reason)
        logger.propagate = True

    if not is_sent:
        hint = (
            "see that a collector listens there for OTLP over HTTP; what was not sent is "
            "sent the next time"
        )
        code = re.search(r"\bcode: (\d+)", reason.words)
        why = f"it answers {code[1]}" if code else "nothing answers"
        raise DeliveryError(f"{endpoint} did not take the spans: {why}", hint=hint)

    return len(spans)


def _span(event: LoggedEvent, project: str, record_ids: Container[str]) -> Any:
    trace = importlib.import_module("opentelemetry.trace")
    sdk = importlib.import_module("opentelemetry.sdk.trace")
    resources = importlib.import_module("opentelemetry.sdk.resources")
    resource = resources.Resource({"service.name": "orbit-registry", "orbit.project": project})

    line = json.dumps(event.row, sort_keys=True)
    context = trace.SpanContext(
        trace_id=_number(event.session or line, 16),
        span_id=_number(line, 8),
        is_remote=False,
        trace_flags=trace.TraceFlags(trace.TraceFlags.SAMPLED),
    )

    status = trace.StatusCode.ERROR if event.fault else trace.StatusCode.OK
    start = round(event.at * 1e9)
    return sdk.ReadableSpan(
        name=SPANS[event.kind],
        context=context,
        resource=resource,
        attributes=dict(_attributes(event.row, record_ids)),
        status=trace.Status(status),
        start_time=start,
        end_time=start + round((event.ms or 0) * 1e6),
    )


def _attributes(row: Mapping[str, Any], record_ids: Container[str]) -> Iterator[tuple[str, Any]]:
    for key in ATTRIBUTES:
        value = row.get(key)
        if isinstance(value, Mapping):
            value = value.get("name")  # the agent of a brief

        if isinstance(value, list):
            texts = [item for item in value if isinstance(item, str)]
            yield f"orbit.{key}", [text for text in texts if key not in IDS or text in record_ids]
        elif isinstance(value, str | int | float | bool):
            yield f"orbit.{key}", value


def _number(text: str, size: int) -> int:
    hashed = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(hashed[:size], "big") or 1  # zero is no valid id
