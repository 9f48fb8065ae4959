"""What a change does to the records, as text and as Markdown for a comment on a pull request."""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from orbit_registry.checks.lines import printable
from orbit_registry.checks.review.changes import ChangeReport, RecordChange
from orbit_registry.doors.render.touched import touches_lines
from orbit_registry.errors import listed, plural
from orbit_registry.formats.untrusted import cut, escaped_line, inert_line
from orbit_registry.lifecycle.audit import Audit, day_of
from orbit_registry.lifecycle.touches import Touch, commands_for
from orbit_registry.matching.match import Match
from orbit_registry.matching.pack import SYMBOL
from orbit_registry.model.diagnostic import Diagnostic, Severity
from orbit_registry.model.fields import ID, PATH
from orbit_registry.model.reach import Via
from orbit_registry.model.record import Record
from orbit_registry.model.scope import USES

MARKER = "<!-- orbit-diff -->"  # first line of the comment, by which the next run finds it
LISTED = 10  # entries of a list that are shown at once
_LONGEST = 300
_SPECIAL = re.compile(r"[\\`*_\[\]<>~$&]")
_REFERENCE = re.compile(r"(?<=[@#!%&$~])(?=[\w{\"])|(?<=:)(?=//)|(?<=\bwww)(?=\.)|(?<=\bGH)(?=-\d)")
"""Where a forge would begin a mention, a reference or a link: an invisible sign goes there."""
_MARKS = {Severity.ERROR: "❌", Severity.WARNING: "⚠️", Severity.NOTE: "ℹ️"}

Link = Callable[[str], str]  # returns the address of a file of the repository


def escaped(text: str) -> str:
    """Return a text as one line that Markdown, HTML and a forge show as plain words."""
    line = cut(inert_line(text).replace("&lt;", "<"), _LONGEST)
    return _SPECIAL.sub(r"\\\g<0>", _REFERENCE.sub("\u200b", line))


def code(text: str) -> str:
    """Return a text as code within a line."""
    line = printable(escaped_line(text))
    fence = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    space = " " if fence != "`" else ""
    return f"{fence}{space}{line}{space}{fence}".replace("|", "¦")


def _counts_text(report: ChangeReport) -> str:
    findings = Counter(finding.severity for finding in report.findings)
    changes = Counter(change.what for change in report.records)
    counts = [
        plural(len(report.files), "file"),
        plural(len(report.matches), "record applies", "records apply"),
    ]
    for what in ("added", "changed", "removed", "unreadable"):
        if changes[what]:
            counts.append(f"{changes[what]} {what}")
    for severity in Severity:
        if findings[severity]:
            counts.append(plural(findings[severity], severity.value))

    return ", ".join(counts)


def check_command(report: ChangeReport) -> str:
    """Return the command that runs the gate on the change."""
    return f"orbit check --against {shlex.quote(report.base_name)}"


def changes_text(report: ChangeReport) -> str:
    """Return the report as people read it in a terminal."""
    lines = [_counts_text(report)]
    if report.matches:
        lines += ["", "Records that apply to these files:"]
        lines += [
            f"  {_id(entry)}  {escaped_line(report.title(entry))}  ({_way(entry)})"
            for entry in report.matches[:LISTED]
        ]
        lines += _more(len(report.matches), "--format json")

    if report.records:
        lines += ["", "Records that change:"]
        for change in report.records[:LISTED]:
            record = change.record
            fields = f"  ({'; '.join(map(str, change.fields))})" if change.fields else ""
            lines.append(
                escaped_line(
                    f"  {change.what:<7}  {record.id}  {record.status.name}  {record.title}{fields}"
                )
            )
            lines += [f"           {escaped_line(sentence)}" for sentence in _shown(change)]

        lines += _more(len(report.records), "--format json")

    for touched in report.touches:
        lines += ["", f"{touched.record.id}  {escaped_line(touched.record.title)}"]
        lines += [f"  {line}" for line in touches_lines(touched.record, touched.touches)]

    if report.collisions:
        lines += ["", "Numbers that other branches took:"]
        lines += [
            f"  {entry.record.id}  {', '.join(entry.branches)}" for entry in report.collisions
        ]
        lines.append(f"  take the next one: `orbit adr renumber {report.collisions[0].record.id}`")

    if report.unwritten:
        lines += ["", "What looks like a decision, and no record explains it:"]
        for candidate in report.unwritten:
            what = f"{candidate.reason} ({candidate.place}): `{candidate.command}`"
            lines.append(f"  {escaped_line(what)}")

    if report.allowed:
        lines += ["", "Broken decisions that a comment allows:"]
        lines += [f"  {_allowance(row, str)}" for row in report.allowed[:LISTED]]
        lines += _more(len(report.allowed), "--format json")

    findings = _ordered(report.findings)
    if findings:
        lines += ["", "What the gate finds:"]
        lines += [
            (
                f"  {finding.location}: {finding.severity} {finding.rule} "
                f"{escaped_line(finding.message)}"
            )
            for finding in findings[:LISTED]
        ]
        lines += _more(len(findings), check_command(report))

    return "\n".join(lines)


def audit_text(report: Audit) -> str:
    """Return what a history decided as people read it in a terminal."""
    lines = [f"{plural(report.read, 'commit')} read; {_count_of(report)}"]
    if report.is_shallow:
        lines.append(
            f"this clone is shallow: what was there at {report.begins[:10]} is not judged; "
            "fetch the history: `git fetch --unshallow`"
        )
    elif report.begins:
        lines.append(
            f"what is older than {report.begins[:10]} is not judged: "
            f"`orbit audit --commits {report.total}` reads all"
        )

    for past in report.candidates:
        candidate, first = past.candidate, past.commits[0]
        lines += ["", escaped_line(f"{candidate.reason} ({candidate.place})")]
        lines.append(escaped_line(f"  {day_of(first)} {first.name[:10]} {first.subject}"))
        if len(past.commits) > 1:
            lines.append(f"  and {plural(len(past.commits) - 1, 'later commit')}")

        lines.append(escaped_line(f"  {candidate.command}"))

    return "\n".join(lines)


def _count_of(report: Audit) -> str:
    """Return how much looks like a decision, in words."""
    if not report.candidates:
        return "nothing in them looks like a decision without a record"

    every = len(report.candidates) + report.more
    things = plural(every, "thing that looks", "things that look")
    return (
        f"{len(report.candidates)} of {things} like a decision and no record explains, "
        "the strongest first"
    )


def changes_markdown(report: ChangeReport, page: Link, file: Link) -> str:
    """Return the report as the comment; `page` gives the address of a record's file on the site,
    `file` elsewhere.
    """
    parts = [MARKER, "### Decisions in this change", _counts_text(report)]
    findings = _ordered(report.findings)
    if findings:
        parts.append(
            _section("What the gate finds", [_finding(finding, file) for finding in findings])
        )

    if report.collisions:
        rows = [
            f"- {code(entry.record.id)} is another record on "
            f"{', '.join(map(code, entry.branches))}: "
            f"`orbit adr renumber {entry.record.id}`"
            for entry in report.collisions
        ]
        parts.append(_section("Numbers that other branches took", rows))

    if report.allowed:
        rows = [f"- {_allowance(row, escaped)}" for row in report.allowed]
        parts.append(_section("Broken decisions that a comment allows", rows))

    if report.records:
        parts.append(
            _section(
                "Records that change", [_change(change, page, file) for change in report.records]
            )
        )

    for touched in report.touches:
        title = f"What {escaped(touched.record.id)} touches"
        parts.append(
            _section(title, [_touch(touched.record, each, page) for each in touched.touches])
        )

    if report.unwritten:
        rows = [
            f"- {escaped(candidate.reason)} ({code(candidate.place)}): {code(candidate.command)}"
            for candidate in report.unwritten
        ]
        parts.append(_section("What looks like a decision, and no record explains it", rows))

    if report.matches:
        rows = [
            f"- [{escaped(_id(entry))}]({page(entry.row.values[PATH])}) "
            f"{escaped(report.title(entry))} · "
            f"{_way(entry, code)}"
            for entry in report.matches
        ]
        parts.append(_section("Records that apply to these files", rows))

    return "\n\n".join(parts) + "\n"


def _section(title: str, rows: Sequence[str]) -> str:
    lines = [f"#### {title}", "", *rows[:LISTED]]
    if rows[LISTED:]:
        more = f"<details><summary>and {len(rows) - LISTED} more</summary>"
        lines += ["", more, "", *rows[LISTED:], "", "</details>"]
    return "\n".join(lines)


def _allowance(row: Diagnostic, mark: Callable[[str], str]) -> str:
    return mark(escaped_line(f"{row.location}  {row.check}  because {row.allowed}"))


def _finding(finding: Diagnostic, file: Link) -> str:
    location = finding.location
    line = f"#L{location.position.line}" if location.position else ""
    link = f"[{escaped(str(location))}]({file(location.path)}{line})"
    hint = f"<br>{escaped(finding.hint)}" if finding.hint else ""
    return (
        f"- {_MARKS[finding.severity]} {code(finding.rule)} {link}: "
        f"{escaped(finding.message)}{hint}"
    )


def _change(change: RecordChange, page: Link, file: Link) -> str:
    record = change.record
    address = file(record.path) if change.what in ("added", "unreadable") else page(record.path)
    title = escaped(record.title)
    name = f"[{escaped(record.id)}]({address})" if change.what != "removed" else escaped(record.id)
    fields = f" · {escaped('; '.join(map(str, change.fields)))}" if change.fields else ""
    shown = "".join(f"<br>{escaped(sentence)}" for sentence in _shown(change))
    return f"- {change.what} {name} {title} ({escaped(record.status.name)}){fields}{shown}"


def _shown(change: RecordChange) -> list[str]:
    """Return where agents are shown an added record, unless its kind or status says it."""
    shown = change.visibility
    if shown is None or shown.is_obvious:
        return []

    return list(shown.lines())


def _touch(new: Record, touch: Touch, page: Link) -> str:
    """Return a decision on the same question, with what to do about it."""
    record = touch.record
    steps = "; ".join(f"{step.what}: {code(step.command)}" for step in commands_for(new, record))
    name = f"[{escaped(record.id)}]({page(record.path)})"
    return f"- {name} {escaped(record.title)} · {escaped('; '.join(touch.reasons))}<br>{steps}"


def _ordered(findings: Sequence[Diagnostic]) -> list[Diagnostic]:
    return sorted(findings, key=lambda finding: list(Severity).index(finding.severity))


def _id(entry: Match) -> str:
    return str(entry.row.values[ID])


def _way(entry: Match, mark: Callable[[str], str] = str) -> str:
    """Return the globs by which a record applies, or the files where no glob does,
    and how many files those are.
    """
    # A file that cites a closed record has a second entry for that.
    files = [way for way in entry.matched_by if way[0][0] != Via.SUPERSEDED] or entry.matched_by
    ways = dict.fromkeys(_plain_glob(glob) or trigger[1:] for trigger, glob in files)
    paths = {trigger[1:] for trigger, _ in files}
    return f"{listed([mark(way) for way in ways], 2)}: {plural(len(paths), 'file')}"


def _plain_glob(glob: str) -> str:
    if glob.startswith(USES):
        return f"imports {glob.removeprefix(USES)}"
    return glob.removeprefix(SYMBOL)


def _more(total: int, where: str) -> Iterator[str]:
    if total > LISTED:
        yield f"  … and {total - LISTED} more: `{where}`"
