"""The table of kinds: what a folder has to hold,
and what is said of one that contradicts itself.
"""

import os
import shutil
from pathlib import Path

import pytest

from orbit_registry.errors import ConfigError
from orbit_registry.formats.yaml import load
from orbit_registry.model.kind import PHASES, SHIPPED, Kind, load_kinds
from orbit_registry.model.schema import read_schema

CASES = Path(__file__).parents[2] / "cases" / "kinds"
KINDS = [*load_kinds(), *(kind for kind in load_kinds(CASES) if kind.name not in load_kinds())]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


@each_kind
def test_a_new_record_starts_where_its_author_may_put_it(kind: Kind) -> None:
    assert set(kind.initial) == {"human", "agent"}
    phases = {role: kind.status(status).phase for role, status in kind.initial.items()}
    assert (phases["human"], phases["agent"]) != ("pending", "live")
    assert all(kind.status(status).to for status in kind.initial.values())


@each_kind
def test_pushed_statuses_are_decided_and_shown_ones_have_banners(kind: Kind) -> None:
    for status in kind.statuses.values():
        assert status.phase in PHASES
        assert not status.pushed or (status.phase != "closed" and not status.waits)
        if status.phase != "live" and status.shown:
            assert status.banner


@pytest.mark.parametrize("kind", list(load_kinds()), ids=lambda kind: kind.name)
def test_closed_statuses_stay_closed(kind: Kind) -> None:
    closed = [status for status in kind.statuses.values() if status.phase == "closed"]

    assert closed
    assert {kind.status(name).phase for status in closed for name in status.to} <= {"closed"}


def test_an_unknown_status_is_pending_and_hidden() -> None:
    status = load_kinds()["adr"].status("superceded")

    assert (status.phase, status.pushed, status.searched, status.shown, status.to) == (
        "pending",
        False,
        False,
        False,
        (),
    )
    assert status.banner == "Status 'superceded' is not known"


def test_kinds_are_found_by_name_plural_and_id() -> None:
    kinds = load_kinds(CASES)

    assert kinds["adr"].plural == "adrs"
    assert "adr" in kinds
    assert "nothing" not in kinds
    kind = kinds.of_plural("learnings")
    assert kind is not None
    assert kind.name == "learning"
    assert kinds.of_plural("nothing") is None
    by_id = {"ADR-0001": "adr", "L-7k3fq": "learning", "R-abcde": "rule", "Z-1": None, "": None}
    assert {
        record_id: getattr(kinds.of_id(record_id), "name", None) for record_id in by_id
    } == by_id


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(CASES / "experiment", tmp_path / "kinds" / "experiment"))


WRONG = {
    "a missing key": ("numbering: code\n", "", "`numbering` is missing"),
    "a phase nobody knows": ("phase: live", "phase: alive", 'is "alive", which is not allowed'),
    "a way to nowhere": (
        "to: [running]",
        "to: [nowhere]",
        "statuses that the table lacks are named: nowhere",
    ),
    "a verb to nowhere": (
        "end: ended",
        "end: over",
        "statuses that the table lacks are named: over",
    ),
    "a pushed waiting status": (
        "phase: pending, pushed: false",
        "phase: pending, pushed: true",
        "never pushed",
    ),
    "bytes that are no text": ("label: Experiment\n", "label: \udcff\n", "not valid UTF-8"),
    "a gate nobody has": ("gate: scoped", "gate: wide", '`gate` is "wide", which is not allowed'),
    "a headline the schema lacks": ("headline: title", "headline: name", "no field 'name'"),
    "a prefix of small letters": ("prefix: X-", "prefix: x", "capitals and a hyphen"),
    "a name with a space": ("kind: experiment", "kind: my experiment", "lower-case words"),
    "a name that leads out": ("plural: experiments", "plural: ../experiments", "lower-case words"),
    "statuses that are a list": (
        "statuses:",
        "statuses: []\nx-rest:",
        "`statuses` is a list, not a mapping",
    ),
    "columns that are a text": (
        "columns: [id, status, title, runs]",
        "columns: id",
        "is a text, not a list",
    ),
    "a budget that is no number": ("budget: 100", "budget: much", "kind.yaml"),
    "a numbering nobody knows": ("numbering: code", "numbering: random", "`numbering` is"),
    "a first status nobody has": (
        "initial: {human: running",
        "initial: {human: begun",
        "named: begun",
    ),
    "no first status for an agent": (
        "initial: {human: running, agent: planned}",
        "initial: {human: running}",
        "agent",
    ),
    "malformed YAML": ("gate: scoped", "gate: [", "kind.yaml:"),
    "a taken prefix": ("prefix: X-", "prefix: ADR-", "already has that name, plural or prefix"),
    "a taken name": (
        "kind: experiment",
        "kind: learning",
        "already has that name, plural or prefix",
    ),
    "a taken plural": (
        "plural: experiments",
        "plural: adrs",
        "already has that name, plural or prefix",
    ),
    "a truth value that is a text": ("pushed: false", 'pushed: "false"', "not true or false"),
    "a field nobody knows": (
        "gate: scoped",
        "gate: scoped\ncolums: [id]",
        "did you mean `columns`?",
    ),
    "a field of a status that nobody knows": (
        "phase: live,",
        "phase: live, wrod: x,",
        "unknown field `wrod`",
    ),
    "a file without end": (
        "gate: scoped",
        f"gate: scoped # {'x' * 1_000_000}",
        "at most 1,000,000 are read",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_kind_that_contradicts_itself_is_refused(folder: Path, name: str) -> None:
    old, new, words = WRONG[name]
    file = folder / "kind.yaml"
    text = file.read_text("utf-8")
    assert old in text
    file.write_bytes(text.replace(old, new).encode("utf-8", "surrogateescape"))

    with pytest.raises(ConfigError) as caught:
        load_kinds(folder.parent)

    assert str(file) in caught.value.message
    assert words in caught.value.message + (caught.value.hint or "")


def test_a_kind_whose_records_of_agents_are_pushed_is_read(folder: Path) -> None:
    file = folder / "kind.yaml"
    text = file.read_text("utf-8")
    old = "initial: {human: running, agent: planned}"
    assert old in text
    file.write_text(text.replace(old, "initial: {human: running, agent: running}"), "utf-8")

    assert load_kinds(folder.parent)["experiment"].initial["agent"] == "running"


@pytest.mark.parametrize("name", ["kind.yaml", "schema.json"])
@pytest.mark.parametrize("harm", ["link", "link to nothing", "linked folder", "pipe", "folder"])
def test_a_kind_is_made_of_files_of_its_own(folder: Path, name: str, harm: str) -> None:
    file = folder / name
    original = file.rename(folder.parent.parent / name)
    if harm == "linked folder":
        original.rename(file)
        folder.symlink_to(folder.rename(folder.parent.parent / "elsewhere"))
    elif harm == "pipe":
        os.mkfifo(file)
    elif harm == "folder":
        file.mkdir()
    else:
        file.symlink_to(original if harm == "link" else folder / "nothing")

    with pytest.raises(ConfigError) as caught:
        load_kinds(folder.parent)

    assert str(folder) in caught.value.message
    assert (
        "not a regular file" in caught.value.message or "is a symbolic link" in caught.value.message
    )


def test_kinds_that_may_not_be_read_are_not_passed_over(
    folder: Path, request: pytest.FixtureRequest
) -> None:
    """A folder without permission is an error: records of a kind would be unknown otherwise."""
    folder.chmod(0)
    request.getfixturevalue("unprivileged")
    with pytest.raises(ConfigError, match="permission denied"):
        load_kinds(folder.parent)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "schema.json"),
        ("[" * 50_000, "schema.json"),
        ('{"title":\n !}', "schema.json:2:2: not valid JSON"),
        ("{", "schema.json"),
        ("[]", "a schema is an object"),
        ('{"properties": {"title": {"type": "txt"}}}', "not a JSON Schema"),
        ('{"properties": {"title": {"pattern": "("}}}', "not a JSON Schema"),
    ],
)
def test_a_schema_that_is_none_is_refused(folder: Path, content: str | None, words: str) -> None:
    file = folder / "schema.json"
    file.unlink() if content is None else file.write_text(content, "utf-8")

    with pytest.raises(ConfigError) as caught:
        load_kinds(folder.parent)

    assert words in caught.value.message


def test_shipped_kinds_have_the_form_of_own_kinds() -> None:
    schema = read_schema(SHIPPED / "kind.schema.json")

    for kind in load_kinds():
        assert schema.problems(load((kind.folder / "kind.yaml").read_text("utf-8"))) == []
