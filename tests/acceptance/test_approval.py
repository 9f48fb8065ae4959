"""Approvals that the gate proves: signed by a real SSH key,
or merged with the name of a code owner.
"""

import subprocess
from pathlib import Path

import pytest
from tests.conftest import Git
from tests.files import configure, make_workspace, write, write_record

from orbit_registry.model.diagnostic import Severity
from orbit_registry.registry import Registry

PERSON, AGENT, STRANGER = "ada@example.org", "claude@agents.example.org", "eve@example.org"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an SSH key for each signer."""
    folder = tmp_path_factory.mktemp("keys")
    for name in (PERSON, AGENT, STRANGER):
        words = [
            "ssh-keygen",
            "-q",
            "-t",
            "ed25519",
            "-N",
            "",
            "-C",
            name,
            "-f",
            str(folder / name),
        ]
        subprocess.run(words, check=True)
    return folder


class Project:
    """A repository in which decisions are accepted in several ways."""

    def __init__(self, root: Path, keys: Path, git: Git) -> None:
        self.root, self.keys, self._git = root, keys, git

    def git(self, *words: str) -> str:
        return self._git(self.root, *words)

    def decide(self, number: int, status: str = "accepted", **fields: object) -> None:
        name = f".orbit/adrs/ADR-{number:04d}"
        data = {
            "title": f"Decision {number}",
            "date": "2026-01-01",
            "feature": "core",
            "status": status,
            **fields,
        }
        write_record(self.root, f"{name}/adr.yaml", **data)
        write(
            self.root,
            f"{name}/body.md",
            "## Context\n\nA.\n\n## Decision\n\nB.\n\n## Consequences\n\n- Cost: C.\n",
        )

    def commit(
        self,
        message: str = "Change",
        signer: str = "",
        author: str = "Ada Example <ada@example.org>",
    ) -> None:
        self.git("add", "-A")
        self._as(signer, "commit", "-q", "--allow-empty", f"--author={author}", "-m", message)

    def merge(self, branch: str, message: str, signer: str = "") -> None:
        self._as(signer, "merge", "-q", "--no-ff", "-m", message, branch)

    def _as(self, signer: str, command: str, *words: str) -> None:
        key = (
            ["-c", "gpg.format=ssh", "-c", f"user.signingKey={self.keys / signer}"]
            if signer
            else []
        )
        self.git(*key, command, *words, *(["-S"] if signer else []))

    def allow(self, *signers: str) -> None:
        lines = [f"{name} {(self.keys / f'{name}.pub').read_text('utf-8')}" for name in signers]
        write(self.root, ".orbit/allowed_signers", "".join(lines))

    def findings(self, against: str | None = None) -> dict[str, tuple[Severity, str]]:
        outcome = Registry.open(self.root).check(against=against)
        return {
            str(finding.record): (finding.severity, finding.message)
            for finding in outcome.diagnostics
            if finding.code == "ORB411"
        }


@pytest.fixture
def project(git_repo: Path, keys: Path, git: Git) -> Project:
    make_workspace(git_repo)
    return Project(git_repo, keys, git)


@pytest.fixture
def signed(project: Project) -> Project:
    """Return a project that requires signatures since its second commit; ADR-0001 is older."""
    project.decide(1)
    project.commit()
    configure(project.root, "approval: {require: signed, agents: ['*@agents.example.org']}\n")
    project.allow(PERSON, AGENT)
    project.commit("Require signatures")
    return project


@pytest.mark.parametrize(
    ("signer", "problem"),
    [
        (PERSON, ""),
        ("", "which is not signed"),
        (AGENT, "which the key of an agent signed: claude@agents.example.org"),
        (STRANGER, "signed by no allowed key"),
    ],
)
def test_only_the_key_of_a_person_proves_an_approval(
    signed: Project, signer: str, problem: str
) -> None:
    signed.decide(2, "proposed")
    signed.commit("Propose")
    signed.decide(2)
    signed.commit("Accept", signer)

    expected = (
        Severity.ERROR,
        f"ADR-0002 became accepted in {signed.git('rev-parse', 'HEAD')[:10]}, {problem}",
    )
    assert signed.findings() == ({"ADR-0002": expected} if problem else {})


def test_what_was_accepted_before_needs_no_proof_and_an_edit_needs_none(signed: Project) -> None:
    signed.decide(2)
    signed.commit("Accept", PERSON)
    signed.decide(2, labels=["later"])
    signed.decide(1, labels=["later"])
    signed.commit("Edit without a signature")

    assert signed.findings() == {}


def test_the_commit_that_accepted_it_counts_and_no_later_one(signed: Project) -> None:
    signed.decide(2)
    signed.commit("Accept")
    signed.decide(2, labels=["later"])
    signed.commit("Edit", PERSON)

    assert list(signed.findings()) == ["ADR-0002"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('status: "accepted"', "status:\n  accepted"),
        ('status: "accepted"', '"stat\\u0075s": accepted'),
        ('status: "accepted"', "? status\n: accepted"),
        ('status: "accepted"', "status: &a accepted"),
        ('title: "Decision 2"', 'title: "Decision 2\nstatus: proposed"'),
    ],
)
def test_any_way_to_write_the_status_needs_a_proof(
    signed: Project, before: str, after: str
) -> None:
    signed.decide(2)
    file = signed.root / ".orbit/adrs/ADR-0002/adr.yaml"
    file.write_text(file.read_text("utf-8").replace(before, after), "utf-8")
    signed.commit("Accept")

    assert signed.findings()["ADR-0002"][0] is Severity.ERROR


def test_a_new_number_needs_no_new_proof(signed: Project) -> None:
    for old, new in ((1, 5), (5, 6)):
        signed.git("mv", f".orbit/adrs/ADR-{old:04d}", f".orbit/adrs/ADR-{new:04d}")
        file = signed.root / f".orbit/adrs/ADR-{new:04d}/adr.yaml"
        file.write_text(
            file.read_text("utf-8").replace(f"ADR-{old:04d}", f"ADR-{new:04d}"), "utf-8"
        )
        signed.commit("Renumber")

    assert signed.findings() == {}


def test_a_merged_branch_keeps_its_proof_and_a_signed_merge_is_one(signed: Project) -> None:
    for branch, number, signer in (("one", 2, PERSON), ("two", 3, ""), ("three", 4, "")):
        signed.git("checkout", "-qb", branch, "main")
        signed.decide(number)
        signed.commit("Accept", signer)
        signed.git("checkout", "-q", "main")
        signed.merge(branch, f"Merge {branch}", PERSON if branch == "three" else "")

    assert list(signed.findings()) == ["ADR-0003"]


@pytest.mark.parametrize(
    "change",
    [
        "a key of its own",
        "another requirement",
        "no configuration",
        "an ignored code",
        "a baseline",
    ],
)
def test_a_change_cannot_approve_itself(signed: Project, change: str) -> None:
    signed.git("checkout", "-qb", "work")
    config = signed.root / ".orbit/config.yaml"
    if change == "a key of its own":
        signed.allow(PERSON, STRANGER)
    elif change == "another requirement":
        config.write_text(
            config.read_text("utf-8").replace("require: signed", "require: none"), "utf-8"
        )
    elif change == "no configuration":
        config.write_text("format: orbit-registry\nschema_version: 1\n", "utf-8")
    elif change == "an ignored code":
        configure(signed.root, "checks: {ignore: [ORB411]}\n")
    signed.commit("Prepare", STRANGER)
    signed.decide(2)
    signed.commit("Accept", STRANGER)
    if change == "a baseline":
        Registry.open(signed.root).baseline_update()

    assert "ADR-0002" in signed.findings("main")


def test_a_change_is_not_blamed_for_what_the_default_branch_has(signed: Project) -> None:
    signed.decide(2)
    signed.commit("Accept")
    signed.git("checkout", "-qb", "work")
    write(signed.root, "src/a.py")
    signed.commit()

    assert signed.findings("main") == {}
    assert list(signed.findings()) == ["ADR-0002"]


def test_a_shallow_clone_proves_nothing(signed: Project, tmp_path: Path, git: Git) -> None:
    signed.decide(2)
    signed.commit("Accept", PERSON)
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{signed.root}", "shallow")

    findings = Project(tmp_path / "shallow", signed.keys, git).findings()

    assert "this clone is shallow" in findings["ADR-0002"][1]


def test_an_approval_in_no_commit_is_a_note(signed: Project) -> None:
    signed.decide(2)

    assert signed.findings()["ADR-0002"][0] is Severity.NOTE


def test_the_repository_cannot_name_the_program_that_verifies(
    signed: Project, tmp_path: Path
) -> None:
    program = write(tmp_path, "verify.sh", f"#!/bin/sh\ntouch {tmp_path}/ran\necho Good\n")
    program.chmod(0o755)
    for name in ("gpg.ssh.program", "gpg.program"):
        signed.git("config", name, str(program))
    signed.decide(2)
    signed.git("config", "--unset", "gpg.ssh.program")
    signed.commit("Accept", STRANGER)
    signed.git("config", "gpg.ssh.program", str(program))

    assert list(signed.findings()) == ["ADR-0002"]
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("trailer", "problem"),
    [
        ("Approved-by: Grace <grace@example.org>", ""),
        ("Reviewed-by: @grace", ""),
        ("Approved-by: Grace <12+grace@users.noreply.github.com>", ""),
        ("approved-by: Grace grace@example.org", ""),
        ("Approved-By: Grace (grace@example.org)", ""),
        ("Approved-by: Grace Hopper (@grace)", ""),
        ("Approved-by: Eve <eve@example.org>, Grace <grace@example.org>", ""),
        ("Approved-by: @eve and @grace", ""),
        ("Approved-by: Hopper, Grace <grace@example.org>", ""),
        ("Approved-by: Ada <ada@example.org>, Eve <eve@example.org>", "names only its author"),
        ("Approved-by: Ada (ada@example.org)", "names only its author"),
        ("Approved-by: Grace", "names no code owner"),
        ("Approved-by: Eve <eve@example.org>", "names no code owner"),
        ("Approved-by: Ada <ada@example.org>", "names only its author"),
        (
            "Co-authored-by: Grace <grace@example.org>\nApproved-by: Grace <grace@example.org>",
            "names only its author",
        ),
        ("Approved-by: Grace <grace@example.org>\n\nMore text.", "names no code owner"),
        ("", "names no code owner"),
    ],
)
def test_a_merge_names_a_code_owner_who_is_not_the_author(
    project: Project, trailer: str, problem: str
) -> None:
    configure(project.root, "approval: {require: code-owner}\n")
    write(
        project.root,
        ".github/CODEOWNERS",
        "* @eve\n/.orbit/adrs/ @grace grace@example.org ada@example.org\n",
    )
    project.commit()
    project.git("checkout", "-qb", "work")
    project.decide(1)
    project.commit("Accept")
    note = project.findings("main")["ADR-0001"]
    project.git("checkout", "-q", "main")
    project.merge("work", f"Merge work\n\n{trailer}")

    assert note[0] is Severity.NOTE  # the merge may still name one
    assert [severity for severity, _ in project.findings().values()] == (
        [Severity.ERROR] if problem else []
    )
    assert problem in "".join(message for _, message in project.findings().values())


@pytest.mark.parametrize("path", [".orbit/config.yaml", "CODEOWNERS"])
def test_a_change_cannot_alter_the_requirement_for_one_commit(project: Project, path: str) -> None:
    configure(project.root, "approval: {require: code-owner}\n")
    write(project.root, "CODEOWNERS", "* @grace\n")
    project.commit()
    file = project.root / path
    before = file.read_text("utf-8")
    project.git("checkout", "-qb", "work")
    file.write_text(before.replace("code-owner", "none").replace("@grace", "@eve"), "utf-8")
    project.commit("Alter")
    project.decide(1)
    project.commit("Accept\n\nApproved-by: @eve")
    file.write_text(before, "utf-8")
    project.commit("Restore")

    assert project.findings("main")["ADR-0001"][0] is Severity.ERROR


@pytest.mark.parametrize(
    ("line", "owns"),
    [
        ("* @grace", True),
        (".orbit/ @grace", True),
        ("/.orbit/adrs/ADR-0001/ @grace", True),
        ("**/adr.yaml @grace", True),
        ("adr.yaml @grace", True),
        ("*.yaml @grace", True),
        ("/adrs/ @grace", False),
        ("* @grace\n/.orbit/ @eve", False),
        ("* @grace\n/.orbit/", False),
        (".orbit/* @grace", False),
        ("# * @grace", False),
    ],
)
def test_lines_of_codeowners_are_read_as_a_forge_reads_them(
    project: Project, line: str, owns: bool
) -> None:
    configure(project.root, "approval: {require: code-owner}\n")
    write(project.root, "CODEOWNERS", f"{line}\n")
    project.commit()
    project.decide(1)
    project.commit("Accept\n\nApproved-by: @grace")

    assert (project.findings() == {}) is owns
