"""Owns the one shape of every JSON output: ok, data, diagnostics, next; its schema stands beside it. Prints nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

ENVELOPE_SCHEMA = Path(__file__).with_name("envelope.schema.json")


def envelope(
    data: object,
    *,
    ok: bool = True,
    diagnostics: Sequence[Mapping[str, object]] = (),
    next_commands: Sequence[str] = (),
    error: str | None = None,
    hint: str | None = None,
) -> dict[str, object]:
    """Return the envelope around `data`; `error` and `hint` say why there are none, as one line each."""
    whole: dict[str, object] = {"ok": ok, "data": data, "diagnostics": list(diagnostics), "next": list(next_commands)}
    return {**whole, "error": error, "hint": hint} if error is not None else whole
