"""The lock has what `pyproject.toml` asks for, for every Python that it admits,
and names no place to get it from.
"""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "requirements-dev.txt").read_text("utf-8")
PIN = r"[a-z0-9-]+==\S+(?: ; [^\\]+)?(?: \\\n    --hash=sha256:[0-9a-f]{64})+\n"
ASKERS = r"(?:    # via(?: \S.*)?\n(?:    #   \S.*\n)*)"


@cache
def pins() -> tuple[Requirement, ...]:
    return tuple(Requirement(text) for text in re.findall(r"(?m)^([a-z0-9].*?) \\$", LOCK))


def constant(name: str) -> tuple[str, ...]:
    """Return a tuple of the noxfile, read without nox: the test environment does not need it."""
    (text,) = re.findall(rf"(?m)^{name} = (\(.*\))$", (ROOT / "noxfile.py").read_text("utf-8"))
    return tuple(ast.literal_eval(text))


def requirements() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    texts = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    for extra in constant("EXTRAS"):
        texts += project["project"]["optional-dependencies"][extra]
    for group in constant("GROUPS"):
        texts += project["dependency-groups"][group]
    return [Requirement(text) for text in texts]


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def test_the_lock_pins_a_release_of_every_requirement(python: str) -> None:
    machine = {
        **default_environment(),
        "python_version": python,
        "python_full_version": f"{python}.9",
    }
    applying = [pin for pin in pins() if pin.marker is None or pin.marker.evaluate(machine)]
    versions = {pin.name: str(pin.specifier).removeprefix("==") for pin in applying}
    assert len(versions) == len(applying), "a package has two releases"
    assert [
        str(wanted)
        for wanted in requirements()
        if not wanted.specifier.contains(
            versions.get(canonicalize_name(wanted.name), "0"), prereleases=True
        )
    ] == [], "python3 -m nox -s lock"


def test_the_lock_holds_pins_with_hashes_and_who_asks_for_them_alone() -> None:
    assert re.fullmatch(rf"(?:#.*\n)+(?:{PIN}{ASKERS})+", LOCK)
    assert "/" not in LOCK, "the address of an index, or a folder"
