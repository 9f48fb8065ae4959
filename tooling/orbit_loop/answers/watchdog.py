"""`watchdog`: store, log and queue, once or on a schedule."""

import re
import time
from collections.abc import Iterator
from datetime import timedelta

from orbit_loop.watchdog import Watch, watch
from orbit_registry.checks.review.notices import send_notices
from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.table import operation
from orbit_registry.errors import UsageError
from orbit_registry.model.diagnostic import envelope
from orbit_registry.registry import Registry

USUAL = "4h"
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


@operation("watchdog", job="Check", writes=True)
def watchdog(
    call: Call,
    once: bool = False,
    every: str | None = None,
    strict: bool = False,
    notifies: bool = False,
) -> Answer:
    """Check store, log and queue, once or on a schedule.

    Derived files that are missing, damaged or older than two days are rebuilt. It reads the events
    of the last four hours, or of --every. It exits 1 on a problem. Without --once, --format json
    prints one object a line.

    orbit watchdog --once --strict
    orbit watchdog --every 4h

    Args:
        once: Check once; the default without --every.
        every TIME: Repeat: 30m, 4h, 1d. With --once: how far back to look.
        strict: Exit 1 on warnings too.
        notifies --notify: Send new findings to ORBIT_NOTIFY_URLS.
    """
    window = _duration(every or USUAL)
    if every is not None and not once:
        return Answer(None, stream=_rounds(call, window, strict=strict, notifies=notifies))

    result = _watched(call, window, notifies=notifies)
    ok = not result.failed(strict=strict)
    return Answer(result.as_data(), result.text(), result.next_steps, ok=ok)


def _rounds(
    call: Call, window: timedelta, *, strict: bool, notifies: bool
) -> Iterator[tuple[object, str]]:
    while True:
        result = _watched(call, window, notifies=notifies)
        data = result.as_data()
        yield envelope(data, ok=not result.failed(strict=strict)), f"{data['at']}\n{result.text()}"

        # For a machine without a timer: between two rounds there is nothing to do.
        time.sleep(window.total_seconds())


def _watched(call: Call, window: timedelta, *, notifies: bool) -> Watch:
    registry = Registry.open(call.workspace.root)
    registry.recover()
    result = watch(registry.workspace, window)
    if notifies:
        grave = [finding for finding in result.findings if finding.level != "ok"]
        texts = {finding.topic: "\n".join(finding.lines()) for finding in grave}
        send_notices(registry.workspace, "watchdog", texts)

    return result


def _duration(value: str) -> timedelta:
    match = re.fullmatch(r"([1-9]\d{0,5})([smhd])", value)
    if match is None:
        raise UsageError(f"{value!r} is not a time", hint="30m, 4h or 1d")
    return timedelta(seconds=int(match[1]) * UNITS[match[2]])
