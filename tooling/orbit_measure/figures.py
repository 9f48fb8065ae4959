"""Figures of reports: shares with their intervals, means, spreads."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

Z = 1.959963984540054  # half width of an interval of 95 %, in standard deviations


@dataclass(frozen=True, slots=True)
class Share:
    """Count of cases that have something, of so many."""

    count: int
    of: int

    def as_data(self) -> dict[str, object]:
        """Return the share for JSON; null without a case."""
        low, high = wilson(self.count, self.of) if self.of else (None, None)
        return {
            "count": self.count,
            "of": self.of,
            "share": ratio(self.count, self.of),
            "low": rounded(low),
            "high": rounded(high),
        }

    def text(self) -> str:
        """Return the share with its interval, in per cent."""
        if not self.of:
            return "no case"
        low, high = wilson(self.count, self.of)
        return (
            f"{100 * self.count / self.of:.1f} % [{100 * low:.0f}, {100 * high:.0f}], "
            f"{self.count} of {self.of}"
        )


def wilson(having: float, of: int) -> tuple[float, float]:
    """Return Wilson's interval of a share."""
    share, spread = having / of, Z * Z / of
    middle = (share + spread / 2) / (1 + spread)
    half = math.sqrt(share * (1 - share) * spread + spread * spread / 4) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def newcombe(having: float, of: int, other: float, of_others: int) -> tuple[float, float, float]:
    """Return the difference of two independent shares,
    and its interval (Newcombe 1998, method 10).
    """
    first, second = having / of, other / of_others
    (low, high), (low_other, high_other) = wilson(having, of), wilson(other, of_others)
    below, above = (
        math.hypot(first - low, high_other - second),
        math.hypot(high - first, second - low_other),
    )
    return first - second, first - second - below, first - second + above


def ratio(part: float, total: int, digits: int = 4) -> float | None:
    """Return a share or a mean; None of nothing."""
    return round(part / total, digits) if total else None


def percent(part: float, total: int) -> str:
    """Return a share in per cent; `-` of nothing."""
    return f"{100 * part / total:.1f} %" if total else "-"


def mean(values: Sequence[float]) -> float | None:
    """Return a mean; None of nothing."""
    return math.fsum(values) / len(values) if values else None


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return the least of sorted values that this share of them does not exceed; 0 of none."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0


def rounded(value: float | None) -> float | None:
    """Return a value with four digits after the point."""
    return value if value is None or isinstance(value, int) else round(value, 4)
