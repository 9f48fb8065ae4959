"""Checks of files (1xx): the findings of the readers, and folders that no kind has."""

from collections.abc import Iterator

from orbit_registry.checks.check import all_checks, check, passed_on
from orbit_registry.checks.context import CheckContext
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity

_CODES = (
    (
        "ORB101",
        "unreadable-file",
        "A record's file can't be read.",
        "make it a readable UTF-8 file, or delete it",
    ),
    ("ORB102", "malformed-yaml", "A record's file is not YAML.", "correct the line that is named"),
    (
        "ORB103",
        "invalid-record",
        "A record breaks its kind's schema.",
        "correct the field that is named",
    ),
    (
        "ORB104",
        "unknown-field",
        "A record has a field that its kind does not know.",
        "own fields start with `x-`",
    ),
    (
        "ORB105",
        "misplaced-file",
        "Something is where only records belong.",
        "move it, or delete it",
    ),
    (
        "ORB106",
        "newer-version",
        "A record was written by a newer version of this tool.",
        "upgrade this tool",
    ),
    (
        "ORB107",
        "broken-vote",
        "A line of votes.jsonl is not a vote of this record.",
        "remove the line",
    ),
    (
        "ORB108",
        "unreadable-document",
        "A document that holds decisions can't be read.",
        "make it readable UTF-8 text",
    ),
    (
        "ORB109",
        "broken-baseline",
        "The baseline can't be used.",
        "`orbit baseline update` writes a new one",
    ),
    (
        "ORB110",
        "old-layout",
        "Learnings use an older layout, which is not read.",
        "run `orbit learning migrate-layout`",
    ),
)


CHECKS = tuple(
    passed_on(
        code,
        name,
        Severity.WARNING if code == "ORB107" else Severity.ERROR,
        summary,
        hint,
        lambda context: context.problems,
    )
    for code, name, summary, hint in _CODES
)


@check("ORB111", Severity.WARNING, "move its records into the folder of their kind")
def unknown_folder(context: CheckContext) -> Iterator[Diagnostic]:
    """Records are in a folder that no kind has."""
    for name, folder in context.facts.unknown_folders.items():
        message = f"no kind has the folder `{name}`: nothing in it is read"
        hint = f"did you mean `{folder}`? Move its records to .orbit/{folder}/"
        if not folder:
            hint = "install the package that brings their kind, or write it into .orbit/kinds/"

        yield unknown_folder.at(Location(f".orbit/{name}"), message, hint=hint)

    for name, remedy in context.facts.unread_folders.items():
        message = f"the configuration leaves out the folder `{name}`: nothing in it is read"
        # What is below `inherited` is judged where it comes from.
        where = Location(f".orbit/{name.partition('/')[0]}")
        yield unknown_folder.at(where, message, hint=remedy)


@check("ORB112", Severity.WARNING, "correct it in .orbit/config.yaml, or take it out")
def configured_nothing(context: CheckContext) -> Iterator[Diagnostic]:
    """The configuration names a check or a folder that is not there."""
    codes = {check.code for check in all_checks()}
    for index, code in enumerate(context.config.setting("checks", "ignore")):
        if code not in codes:
            message = f"checks.ignore names {code}, and no check has that code"
            yield configured_nothing.at(context.in_config("checks", "ignore", index), message)

    for folder in context.facts.no_folders:
        folders = context.config.adr.folders
        keys = ("folders", folders.index(folder)) if folder in folders else ("folder",)
        message = f"adr.{keys[0]} names `{folder}`, and no folder is there"
        yield configured_nothing.at(context.in_config("adr", *keys), message)
