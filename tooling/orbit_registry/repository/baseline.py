"""Baseline of accepted findings in `.orbit/baseline.yaml`, matched by message and not by line."""

from __future__ import annotations

import contextlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from orbit_registry.errors import OrbitError, RefusedError
from orbit_registry.formats.position import Position, YamlProblemError
from orbit_registry.formats.yaml import dump, load
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.workspace.files import DOCUMENT_LIMIT, read_text, write_atomic
from orbit_registry.workspace.workspace import Workspace

VERSION = 1
"""The `schema_version` of the file."""
BROKEN = "ORB109"
UNPROVED = "ORB411"
"""Code of an approval without proof: a change must not silence it."""
PROTECTED = "ORB412"
"""Code of a change of what the gate protects."""
NEVER_BASELINED = frozenset(
    {BROKEN, "ORB290", "ORB310", "ORB410", "ORB808", UNPROVED, PROTECTED, "ORB1004", "ORB1008"}
)
"""Findings about one run, one change or a date, which are never accepted."""
_COUNTS = re.compile(r"(?<![\w.:/-])\d+(?:[.,]\d+)*%?(?![\w/-])")
"""Numbers outside ids, paths, dates and positions."""
_SEVERAL = " (… of them)"
"""What a message says of more than one, which goes with all but one."""
_UPGRADE = "upgrade orbit-registry as it was installed"
_NO_LIST = "the baseline holds something that is no list of findings"
_COMMENT = "Findings that were there at adoption; `orbit baseline update` rewrites this file."


@dataclass(frozen=True, slots=True, order=True)
class BaselineFinding:
    """One accepted finding, without its position."""

    code: str
    path: str
    record: str
    message: str


Baseline = Counter[BaselineFinding]
"""The accepted findings and how often each occurs."""


@dataclass(frozen=True, slots=True)
class SortedFindings:
    """Findings compared with a baseline."""

    new: tuple[Diagnostic, ...]
    baselined: tuple[Diagnostic, ...]
    resolved: tuple[BaselineFinding, ...]
    """Accepted findings that no longer occur."""


def baseline_key(diagnostic: Diagnostic) -> BaselineFinding:
    """Return a finding without counts in its message, which change with unrelated files."""
    words = _COUNTS.sub("…", diagnostic.message).replace(_SEVERAL, "")
    path = _printable(diagnostic.location.path)
    return BaselineFinding(diagnostic.code, path, diagnostic.record or "", _printable(words))


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def baseline_of(diagnostics: Iterable[Diagnostic]) -> Baseline:
    """Return the baseline that accepts these findings."""
    accepted = [each for each in diagnostics if each.code not in NEVER_BASELINED]
    return Counter(baseline_key(each) for each in accepted if not _leaves_record_unread(each))


def _leaves_record_unread(diagnostic: Diagnostic) -> bool:
    """Say whether no part of a record's file can be read: accepted, it is lost without a word."""
    is_record = diagnostic.location.path.endswith(".yaml")
    return is_record and diagnostic.code in ("ORB101", "ORB102")


_NOT_RUN, _BROKEN_DECISIONS = "ORB1004", ("ORB1005", "ORB1006")


def apply(
    baseline: Baseline,
    diagnostics: Sequence[Diagnostic],
    is_gone: Callable[[str], bool] = lambda path: False,
) -> SortedFindings:
    """Split findings into new and accepted ones; more occurrences than accepted are new.

    Broken decisions of a record whose check did not run are neither there nor gone. One in a file
    that `is_gone` is the same one in another file.
    """
    remaining = Counter(baseline)
    moved: defaultdict[BaselineFinding, list[BaselineFinding]] = defaultdict(list)
    for finding in remaining:
        if finding.code in _BROKEN_DECISIONS and is_gone(finding.path):
            moved[replace(finding, path="")].append(finding)

    new: list[Diagnostic] = []
    baselined: list[Diagnostic] = []
    for diagnostic in diagnostics:
        finding = baseline_key(diagnostic)
        if remaining[finding] <= 0 and moved:
            earlier = moved.get(replace(finding, path=""), [])
            while earlier and remaining[earlier[-1]] <= 0:
                earlier.pop()

            if earlier:
                finding = earlier[-1]

        if remaining[finding] > 0:
            remaining[finding] -= 1
            baselined.append(diagnostic)
        else:
            new.append(diagnostic)

    not_run = {diagnostic.record for diagnostic in diagnostics if diagnostic.code == _NOT_RUN}
    resolved: list[BaselineFinding] = []
    for finding, count in remaining.items():
        if finding.code not in _BROKEN_DECISIONS or finding.record not in not_run:
            resolved += [finding] * count

    return SortedFindings(tuple(new), tuple(baselined), tuple(sorted(resolved)))


def read_baseline(workspace: Workspace) -> tuple[Baseline, list[Diagnostic]]:
    """Return the baseline; an unusable one is empty and gives a diagnostic."""
    file = workspace.baseline
    path = workspace.relative(file)

    if not file.exists() and not file.is_symlink():
        return Baseline(), []

    try:
        text = read_text(file, limit=DOCUMENT_LIMIT)
    except OrbitError as error:
        return Baseline(), [_broken(error.message.replace(f"{file}", path), Location(path))]

    return baseline_in(text, path)


def baseline_in(text: str, path: str) -> tuple[Baseline, list[Diagnostic]]:
    """Return the baseline that a file's text holds; an unusable one is empty and gives a
    diagnostic.
    """
    try:
        value = load(text)
    except YamlProblemError as error:
        return Baseline(), [_broken(error.problem.message, Location(path, error.problem.position))]

    start = Location(path, Position(1))
    data = value if isinstance(value, dict) else {}
    version, rows = data.get("schema_version"), data.get("findings")

    if isinstance(version, int) and version > VERSION:
        message = f"schema_version {version} is newer than this tool knows ({VERSION})"
        return Baseline(), [_broken(message, start, _UPGRADE)]

    if not isinstance(rows, list):
        return Baseline(), [_broken(_NO_LIST, start)]

    counts = Baseline()
    for row in rows:
        if not isinstance(row, dict) or not isinstance(row.get("count", 1), int):
            return Baseline(), [_broken(_NO_LIST, start)]

        code, path_of, record, message = (
            str(row.get(name, "")) for name in ("code", "path", "record", "message")
        )
        finding = BaselineFinding(code, path_of, record, message.replace(_SEVERAL, ""))
        counts[finding] += max(0, int(row.get("count", 1)))

    return counts, []


def _broken(
    message: str, where: Location, hint: str = "`orbit baseline update` writes a new one"
) -> Diagnostic:
    return Diagnostic(BROKEN, Severity.ERROR, message, where, hint)


def refuse_newer(workspace: Workspace) -> None:
    """Raise where a newer version of this tool wrote the baseline."""
    for problem in read_baseline(workspace)[1]:
        if problem.hint == _UPGRADE:
            raise RefusedError(f"{problem.location.path}: {problem.message}", hint=_UPGRADE)


def _baseline_text(baseline: Baseline) -> str:
    """Return the file's text: sorted, so that the same findings give the same bytes."""
    rows: list[dict[str, object]] = []
    for finding, count in sorted(baseline.items()):
        row: dict[str, object] = {"code": finding.code, "path": finding.path}
        if finding.record:
            row["record"] = finding.record

        row["message"] = finding.message
        if count > 1:
            row["count"] = count

        rows.append(row)

    return dump({"schema_version": VERSION, "findings": rows}, comment=_COMMENT)


def write_baseline(workspace: Workspace, baseline: Baseline) -> bool:
    """Write the baseline; False where the file has the same text already."""
    file, text = workspace.baseline, _baseline_text(baseline)
    with contextlib.suppress(OrbitError):
        if file.exists() and read_text(file, limit=DOCUMENT_LIMIT) == text:
            return False

    write_atomic(file, text)
    return True
