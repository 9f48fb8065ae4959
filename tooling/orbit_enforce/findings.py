"""What a run reports: what breaks the checks, what can't be run, and what is idle."""

from __future__ import annotations

from collections import Counter, defaultdict

from orbit_enforce.allowances import Allow
from orbit_enforce.run import Run
from orbit_registry.errors import listed
from orbit_registry.formats.code_tree import NO_AST_GREP
from orbit_registry.formats.position import Position
from orbit_registry.model.diagnostic import Location, Severity
from orbit_registry.operations.glob_counts import count_matches


def add_breaks(run: Run) -> None:
    """Report what breaks the checks, what can't be run, and allowances that allow nothing."""
    skipped: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for path, value in run.side.values.items():
        for name, reason in value.not_run.items():
            skipped[name, reason].append(path)

    for check, rows in run.breaks():
        for row in rows:
            run.report.add_break(check, row)

    for (name, reason), files in skipped.items():
        check, message = run.checks[name], f"{name} is not run on {listed(files, 1)}: {reason}"
        # Else a file could hide from a check behind a long sum.
        severity = Severity.ERROR if check.level == "error" and reason != NO_AST_GREP else None
        run.report.add(check, "ORB1004", message, severity=severity)

    for path, value in run.side.values.items():
        earlier = Counter(map(_words, run.allows_before(path)))
        for allow in value.allows:
            earlier[_words(allow)] -= 1
            if (path, allow) not in run.needed and earlier[_words(allow)] < 0:
                _add_unused(run, path, allow)


def _words(allow: Allow) -> str:
    return allow.name + allow.reason


def _add_unused(run: Run, path: str, allow: Allow) -> None:
    names = run.side.readers[path]
    check = next((run.checks[name] for name in names if allow.is_for(name)), None)
    nearest = check or run.checks[names[0]]
    message = f"`orbit: allow {allow.name}` allows nothing here"
    hint = "remove the comment, or correct the id"

    if not allow.name:
        message = "this allowance can't be read"
        hint = f"write `orbit: allow {nearest.record.id} because …`"

    run.report.add(nearest, "ORB1007", message, Location(path, Position(allow.line)), hint=hint)


def add_blind(run: Run) -> None:
    """Report checks that look at no file, and exceptions that match none."""
    for name, check in run.checks.items():
        if name in run.blind:
            hint = "correct `in:`, or remove the check if its subject is gone"
            if "in" not in check.fields:
                hint = "no file of its sort is here; remove the check if its subject is gone"

            run.report.add(check, "ORB1003", f"{name} looks at no file", hint=hint)

        exceptions = [str(text) for text in check.fields.get("except", ())]
        counts = count_matches(exceptions, run.tree.paths)
        for text in exceptions:
            if text not in counts:
                message = f"`except: {text}` of {name} matches no file"
                hint = "correct the glob, or remove it if the file is gone"
                run.report.add(check, "ORB1003", message, hint=hint)
