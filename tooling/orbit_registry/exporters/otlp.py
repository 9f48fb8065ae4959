"""Sends events as OpenTelemetry spans over OTLP/HTTP, after the fact; it owns what of an event leaves the machine.

A span holds ids of the project's records, counts, reasons and times; no path, no tag, no word that somebody wrote and
no personal record. The libraries cost a
quarter of a second to import, so they are imported when something is sent, and no hook comes here.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import time
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from orbit_registry.errors import ConfigError, DeliveryError, OrbitError
from orbit_registry.hook.events import CAPTURED, RETRIEVAL, SYNCED
from orbit_registry.hook.project import private_folder
from orbit_registry.repository.reader import read_collection
from orbit_registry.workspace.event_log import LoggedEvent, LogScan, log_files, rows_in
from orbit_registry.workspace.files import read_bytes, write_atomic
from orbit_registry.workspace.workspace import Workspace

SPANS = {RETRIEVAL: "orbit.selection", CAPTURED: "orbit.capture", SYNCED: "orbit.sync"}
"""The events that are sent, and what their spans are called."""
TOLD = (
    "surface", "session", "agent", "hits", "ids", "count", "omitted", "skip_reason", "fault", "tokens", "withheld",
    "built", "records", "digest", "turns",
)  # fmt: skip
"""The members of an event that a span has as its attributes, each where it is there."""
IDS = ("hits", "ids", "withheld")
"""Those that name records: what the project does not have is somebody's own, and is not named."""
MARK = "otlp.json"
BATCH = 512
TIMEOUT = 10.0
_PATH = "/v1/traces"
_EXTRA = "install the extra `orbit-registry[otel]`"


def send(workspace: Workspace, endpoint: str, *, everything: bool = False) -> int:
    """Send what was not sent before, or all there is, and return how many spans; remembered is what arrived.

    The id of a span is made of its event, so that one which is sent twice is the same.

    Raises:
        ConfigError: the libraries are not installed.
        DeliveryError: nobody answers there, or they refuse; the same is sent the next time.
        UnreadableFileError: the log can't be read.
    """
    mark = Path(private_folder(str(workspace.root), "log")) / MARK
    number, place = (0, 0) if everything else _sent(mark, endpoint)
    parts = [(file, file.stat().st_ino) for file in log_files(workspace.state)]
    first = next((at for at, (_, inode) in enumerate(parts) if inode == number), 0)
    met = LogScan(offset=place if parts and parts[first][1] == number else 0)
    count = 0
    known = frozenset(record.id for record in read_collection(workspace).records)
    batch: list[tuple[LoggedEvent, Mapping[str, Any]]] = []
    for said, row in rows_in([file for file, _ in parts[first:]], time.time(), met):
        if said.kind in SPANS:
            batch.append((said, row))
        if len(batch) == BATCH:
            count += _deliver(batch, workspace.name, known, endpoint)
            batch = []
    count += _deliver(batch, workspace.name, known, endpoint)
    if parts and met.files:
        inode = parts[first + len(met.files) - 1][1]
        write_atomic(mark, json.dumps({"endpoint": endpoint, "inode": inode, "place": met.offset}))
    return count


def endpoint_of(said: str | None) -> str:
    """Return where to send to: as it is said, or as OpenTelemetry's own variables say; empty for nowhere."""
    base = said or os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "")
    named = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "")
    if named and not said:
        return named
    return base if not base or base.endswith(_PATH) else base.rstrip("/") + _PATH


def _sent(mark: Path, endpoint: str) -> tuple[int, int]:
    """Return up to where the log was sent: the inode of a part, and a place in it."""
    try:
        said = json.loads(read_bytes(mark, limit=10_000))
        return (int(said["inode"]), int(said["place"])) if said["endpoint"] == endpoint else (0, 0)
    except (OrbitError, ValueError, TypeError, KeyError, RecursionError):
        return 0, 0


@cache
def _exporter(endpoint: str) -> Any:
    try:
        library = importlib.import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    except ImportError:
        raise ConfigError("the libraries of OpenTelemetry are not installed", hint=_EXTRA) from None
    return library.OTLPSpanExporter(endpoint=endpoint, timeout=TIMEOUT)


def _deliver(
    batch: Sequence[tuple[LoggedEvent, Mapping[str, Any]]], project: str, known: Container[str], endpoint: str
) -> int:
    if batch:
        exporter = _exporter(endpoint)
        if exporter.export([_span(said, row, project, known) for said, row in batch]).name != "SUCCESS":
            hint = "see that a collector listens there for OTLP over HTTP; what was not sent is sent the next time"
            raise DeliveryError(f"{endpoint} did not take the spans", hint=hint)
    return len(batch)


def _span(said: LoggedEvent, row: Mapping[str, Any], project: str, known: Container[str]) -> Any:
    """Return the span of an event: those of a session are one trace."""
    trace, sdk = importlib.import_module("opentelemetry.trace"), importlib.import_module("opentelemetry.sdk.trace")
    resources = importlib.import_module("opentelemetry.sdk.resources")
    line = json.dumps(row, sort_keys=True)
    context = trace.SpanContext(
        trace_id=_number(said.session or line, 16), span_id=_number(line, 8), is_remote=False,
        trace_flags=trace.TraceFlags(trace.TraceFlags.SAMPLED),
    )  # fmt: skip
    begun = round(said.at * 1e9)
    return sdk.ReadableSpan(
        name=SPANS[said.kind],
        context=context,
        resource=resources.Resource({"service.name": "orbit-registry", "orbit.project": project}),
        attributes=dict(_attributes(row, known)),
        status=trace.Status(trace.StatusCode.ERROR if said.fault else trace.StatusCode.OK),
        start_time=begun,
        end_time=begun + round((said.ms or 0) * 1e6),
    )


def _attributes(
    row: Mapping[str, Any], known: Container[str]
) -> Iterator[tuple[str, str | int | float | bool | list[str]]]:
    for key in TOLD:
        value = row.get(key)
        if isinstance(value, Mapping):
            value = value.get("name")  # a brief's agent, beside what is known of it
        if isinstance(value, list):
            yield f"orbit.{key}", [one for one in value if isinstance(one, str) and (key not in IDS or one in known)]
        elif isinstance(value, str | int | float | bool):
            yield f"orbit.{key}", value


def _number(text: str, size: int) -> int:
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:size], "big") or 1
