"""Skills of a project: `SKILL.md` pages in the folders where agents look.

Those made by `orbit export` are left out.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from orbit_registry.errors import OrbitError
from orbit_registry.formats.position import Span
from orbit_registry.model.kind import Status
from orbit_registry.model.record import Record
from orbit_registry.workspace.files import inside, read_text
from orbit_registry.workspace.workspace import Workspace

SKILL_FOLDERS = (
    "skills",
    ".agents/skills",
    ".claude/skills",
    ".codex/skills",
    ".cursor/skills",
    ".gemini/skills",
    ".github/skills",
)
PAGE, SKILL = "SKILL.md", "skill"
MARK = "<!-- Made by `orbit export`: changes are lost. -->"
LIMIT, MOST = 200_000, 500  # limits: bytes of a page, and pages of a folder
_PATH = re.compile(rf"(?:{'|'.join(map(re.escape, SKILL_FOLDERS))})/[^/\\\n]+/{re.escape(PAGE)}\Z")
_HEAD = re.compile(r"\A\ufeff?---[ \t\r]*\n(.*?)\n---[ \t\r]*(?:\n|\Z)", re.DOTALL)
_SECTION = re.compile(
    r"^(#{2,6})[ \t]+(?:learned|learnings|lessons(?: learned)?|gotchas|pitfalls)[ \t]*+#*+[ \t]*+$",
    re.I | re.M,
)
_HEADING = re.compile(r"^(#{1,6})[ \t]", re.M)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_NEW_SECTION = "## Learned"


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill's page: path from the root, name, description and full text."""

    path: str
    name: str
    description: str
    text: str

    @property
    def body(self) -> str:
        """The text below the head."""
        return _HEAD.sub("", self.text, count=1)


def is_skill(path: str) -> bool:
    """Say whether a path from the root is a skill's page."""
    return _PATH.match(path) is not None


def head(text: str) -> str:
    """Return the front matter of a skill's page."""
    match = _HEAD.match(text)
    if match is not None:
        return match[0]

    return ""


def read_skills(workspace: Workspace) -> tuple[list[Skill], list[str]]:
    """Return the skills sorted by path, and problems of unreadable ones."""
    pages, problems = skill_pages(workspace)
    return [_skill(path, text) for path, text in pages.items()], problems


def skill_pages(workspace: Workspace) -> tuple[dict[str, str], list[str]]:
    """Return the text of each skill by its path, sorted, and problems of unreadable ones."""
    pages: dict[str, str] = {}
    problems: list[str] = []
    for root in SKILL_FOLDERS:
        try:
            folder = inside(workspace.root, root)
            names = sorted(entry.name for entry in folder.iterdir() if (entry / PAGE).exists())
        except (OSError, OrbitError):
            continue

        for name in names[:MOST]:
            path = f"{root}/{name}/{PAGE}"
            try:
                text = read_text(inside(workspace.root, path), limit=LIMIT)
            except OrbitError as error:
                problems.append(f"{path}: {error.message}")
                continue

            if MARK not in text:
                pages[path] = text

    return pages, problems


def _skill(path: str, text: str) -> Skill:
    from orbit_registry.formats.adr.front_matter import read_fields  # slow to import

    folder = path.split("/")[-2]
    start = head(text)
    read = read_fields(start, Span(0, len(start)))
    fields = {field.key: " ".join(field.value.split()) for field in read}
    return Skill(path, fields.get("name") or folder, fields.get("description", ""), text)


def skill_records(workspace: Workspace) -> list[Record]:
    """Return the skills as records of a kind without files, with their paths as ids."""
    if SKILL in workspace.kinds:
        return []

    status = Status(
        "active",
        "live",
        pushed=False,
        searched=True,
        shown=False,
        word="active",
        banner=None,
        to=(),
    )

    kind = replace(
        workspace.kinds["learning"],
        name=SKILL,
        plural="skills",
        prefix="",
        label="Skill",
        labels="Skills",
        headline="title",
        prose="body",
        initial={},
        statuses={"active": status},
        verbs={},
        voted=False,
    )

    records = []
    for skill in read_skills(workspace)[0]:
        title = skill.name
        if skill.description:
            title = f"{skill.name}: {skill.description}"

        data = {"id": skill.path, "uid": skill.path, "status": "active", "title": title}
        records.append(Record(kind, data, skill.path, skill.body))

    return records


def statements(skill: Skill) -> Sequence[str]:
    """Return the statements of a skill: items, paragraphs and their sentences,
    without headings and code.
    """
    without_code = re.sub(r"```.*?(?:```|\Z)", "\n\n", skill.body, flags=re.DOTALL)
    blocks = re.split(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*+]|\d+\.)[ \t])", without_code)

    texts: list[str] = []
    for block in blocks:
        bare = re.sub(r"^[ \t]*(?:[-*+]|\d+\.)[ \t]+", "", block.strip("\n"))
        text = " ".join(bare.split())
        if text and not text.startswith("#"):
            texts.append(text)
            texts += filter(None, _SENTENCE_END.split(text))

    return [*dict.fromkeys(texts)]


def with_items(text: str, items: Iterable[str]) -> str:
    """Return a page with more items in its section of learnings, which is added if missing;
    line ends are kept.
    """
    if 0 < text.count("\n") == text.count("\r\n"):
        return with_items(text.replace("\r\n", "\n"), items).replace("\n", "\r\n")

    section = _SECTION.search(text)
    if section is None:
        lines = "".join(f"{item}\n" for item in items)
        return f"{_with_space_below(text)}{_NEW_SECTION}\n\n{lines}"

    following = (
        heading.start()
        for heading in _HEADING.finditer(text, section.end())
        if len(heading[1]) <= len(section[1])
    )
    end = next(following, len(text))
    written = text[:end].rstrip()
    space_below = text[len(written) : end] or "\n"
    is_list = written.split("\n")[-1].lstrip().startswith(("-", "*", "+"))
    space_above = "\n" if is_list else "\n\n"

    lines = "\n".join(items)
    return f"{written}{space_above}{lines}{space_below}{text[end:]}"


def _with_space_below(text: str) -> str:
    """Return a page that ends with an empty line, so that a section can follow."""
    if text and not text.endswith("\n"):
        text += "\n"

    if text.strip():
        return f"{text}\n"

    return text
