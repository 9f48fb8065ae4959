"""What a new decision touches, as text."""

from collections.abc import Iterator, Sequence

from orbit_registry.formats.untrusted import escaped_line
from orbit_registry.lifecycle.touches import Touch, commands_for
from orbit_registry.model.record import Record


def touches_lines(
    new: Record, touched: Sequence[Touch], *, is_written: bool = True
) -> Iterator[str]:
    """Yield touched decisions as lines, with what to do about the nearest one."""
    if not touched:
        return

    yield "decisions on the same question:"
    for touch in touched:
        reasons = "; ".join(touch.reasons)
        yield escaped_line(f"  {touch.record.id}  {touch.record.title}  ({reasons})")

    if not is_written:
        return

    nearest = touched[0].record
    more = ", and so for the others" if len(touched) > 1 else ""
    yield f"say how it relates to {nearest.id}{more}:"
    for step in commands_for(new, nearest):
        yield f"  {step.what}: `{step.command}`"
