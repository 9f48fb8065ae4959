"""`orbit events export`: the event log as OpenTelemetry spans."""

from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.table import operation
from orbit_registry.errors import UsageError, plural


@operation("events export")
def export(call: Call, endpoint: str | None = None, everything: bool = False) -> Answer:
    """Send new events as OpenTelemetry spans.

    It sends ids, counts, reasons and times, no path and no text. It needs the extra
    `orbit-registry[otel]`.

    orbit events export --endpoint http://localhost:4318

    Args:
        endpoint URL: Address of an OTLP/HTTP collector; else OTEL_EXPORTER_OTLP_….
        everything --all: Send events again that were sent before.
    """
    from orbit_notify.otlp import endpoint_of, refuse_endpoint, send

    where = endpoint_of(endpoint)
    if not where:
        raise UsageError(
            "no address to send to", hint="orbit events export --endpoint http://localhost:4318"
        )

    refuse_endpoint(where)
    sent = send(call.workspace, where, everything=everything)
    data = {"sent": sent, "endpoint": where}
    return Answer(data, f"{plural(sent, 'span')} sent", ["orbit events stats"])
