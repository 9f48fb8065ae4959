"""What a task is where somebody briefs an agent for it; its schema stands beside it. Reads and runs nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

TASK_SCHEMA = Path(__file__).with_name("task.schema.json")


@dataclass(frozen=True, slots=True)
class Task:
    """One task; `context_files` are paths as they were given. What is not known is empty."""

    id: str = ""
    title: str = ""
    text: str = ""
    context_files: tuple[str, ...] = ()
    project: str = ""
    """Which of the projects of a repository it is of, as records name them."""

    @property
    def words(self) -> str:
        """Title and text, as search and the classifier read them."""
        return "\n\n".join(part for part in (self.title.strip(), self.text.strip()) if part)
