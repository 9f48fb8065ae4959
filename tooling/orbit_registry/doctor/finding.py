"""What an examination finds: a level, a topic, words, a place and what to do next; it examines nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "problem"]
LEVELS: tuple[Level, ...] = ("ok", "warning", "problem")


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding; `where` is a file or another place, `next_step` a command or words; both may be empty."""

    level: Level
    topic: str
    what: str
    where: str = ""
    next_step: str = ""

    def as_data(self) -> dict[str, object]:
        """Return the finding as JSON shows it."""
        return {
            "level": self.level,
            "topic": self.topic,
            "what": self.what,
            "where": self.where or None,
            "next": self.next_step or None,
        }

    def lines(self) -> list[str]:
        """Return the finding as people read it."""
        place = f" ({self.where})" if self.where else ""
        lines = [f"{self.level:<8} {self.topic:<11} {self.what}{place}"]
        return [*lines, f"{'':<20} next: {self.next_step}"] if self.next_step else lines
