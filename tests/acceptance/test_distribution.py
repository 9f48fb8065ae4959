"""The wheel and the source archive: the same bytes from the same files, and nothing is missing."""

import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from reference_pages import manual

ROOT = Path(__file__).parents[2]
Build = Callable[[str, Path, str], Path]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Return what builds a wheel or a source archive of a project, into a folder of its own."""
    wheel = pytest.importorskip(
        "hatchling.builders.wheel", reason="the builder of the wheel is not installed"
    )
    sdist = pytest.importorskip("hatchling.builders.sdist")

    def built(form: str, project: Path, name: str) -> Path:
        builder = (wheel.WheelBuilder if form == "wheel" else sdist.SdistBuilder)(str(project))
        return Path(
            next(builder.build(directory=str(tmp_path_factory.mktemp(name)), versions=["standard"]))
        )

    return built


@pytest.fixture(scope="module")
def archive(build: Build) -> Path:
    return build("sdist", ROOT, "archive")


def test_two_builds_of_the_archive_are_the_same(build: Build, archive: Path) -> None:
    assert build("sdist", ROOT, "again").read_bytes() == archive.read_bytes()


def test_the_archive_makes_the_wheel_of_the_checkout(
    build: Build, archive: Path, tmp_path: Path
) -> None:
    with tarfile.open(archive) as files:
        # Python 3.11.3 and older ones have no filter.
        if hasattr(tarfile, "data_filter"):
            files.extraction_filter = tarfile.data_filter
        files.extractall(tmp_path)
    (project,) = tmp_path.iterdir()
    assert (
        build("wheel", project, "unpacked").read_bytes()
        == build("wheel", ROOT, "checkout").read_bytes()
    )


def test_the_wheel_has_every_file_of_the_package(build: Build) -> None:
    command = ["git", "ls-files", "tooling/orbit_registry", "site-overrides"]
    tracked = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")[:-1]
    expected = {
        name.replace("site-overrides", "orbit_registry/site/overrides").removeprefix("tooling/")
        for name in tracked
    }
    with zipfile.ZipFile(build("wheel", ROOT, "whole")) as wheel:
        assert expected - set(wheel.namelist()) == set()
        assert [name for name in wheel.namelist() if name.endswith("share/man/man1/orbit.1")] != []


def test_the_man_page_lists_the_commands_of_the_program() -> None:
    assert (ROOT / "tooling/man/orbit.1").read_text("utf-8") == manual()
