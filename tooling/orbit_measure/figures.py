"""Figures of reports: shares with their intervals."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Share:
    """Count of cases that have something, of so many, and its interval."""

    count: int = 0
    of: int = 0
    low: float | None = None
    high: float | None = None

    def as_data(self) -> dict[str, object]:
        """Return the share for JSON; null without a case."""
        return {
            "count": self.count,
            "of": self.of,
            "share": ratio(self.count, self.of),
            "low": rounded(self.low),
            "high": rounded(self.high),
        }

    def text(self) -> str:
        """Return the share with its interval, in per cent."""
        if self.low is None or self.high is None:
            return "no case"
        return (
            f"{100 * self.count / self.of:.1f} % [{100 * self.low:.0f}, {100 * self.high:.0f}], "
            f"{self.count} of {self.of}"
        )


def ratio(part: float, total: int, digits: int = 4) -> float | None:
    """Return a share or a mean; None of nothing."""
    if total:
        return round(part / total, digits)

    return None


def percent(part: float, total: int) -> str:
    """Return a share in per cent; `-` of nothing."""
    if total:
        return f"{100 * part / total:.1f} %"

    return "-"


def rounded(value: float | None) -> float | None:
    """Return a value with four digits after the point."""
    if value is None or isinstance(value, int):
        return value

    return round(value, 4)
