"""The author: a person, or an agent by its host's variables; `ORBIT_ACTOR` overrides both."""

from collections.abc import Callable
from pathlib import Path

import pytest

from orbit_registry.errors import UsageError
from orbit_registry.workspace.author import AGENT_MARKERS, Author, current_author
from orbit_registry.workspace.git import Git


@pytest.mark.parametrize("marker", AGENT_MARKERS)
def test_each_marker_means_its_agent(tmp_path: Path, marker: str) -> None:
    git = Git(tmp_path)

    assert current_author(git, environment={marker: "1"}) == Author(AGENT_MARKERS[marker], "agent")
    assert current_author(git, environment={marker: "", "USER": "ada"}).role == "human"


@pytest.mark.parametrize(
    ("environment", "author"),
    [
        ({"USER": "ada"}, Author("ada", "human")),
        ({"USERNAME": "ada"}, Author("ada", "human")),
        ({"GIT_AUTHOR_NAME": "Ada Ünlü", "USER": "root"}, Author("Ada Ünlü", "human")),
        ({"GIT_AUTHOR_NAME": " ", "USER": "ada"}, Author("ada", "human")),
        ({}, Author("unknown", "human")),
        ({"CLAUDECODE": "1", "ORBIT_ACTOR": "human", "USER": "ada"}, Author("ada", "human")),
        ({"ORBIT_ACTOR": "agent", "USER": "ada"}, Author("agent", "agent")),
        (
            {"ORBIT_ACTOR": "agent", "ORBIT_AGENT": "reviewer", "ORBIT_MODEL": "m-1"},
            Author("reviewer", "agent", "m-1"),
        ),
        ({"CODEX_SANDBOX": "1", "ORBIT_AGENT": "reviewer"}, Author("reviewer", "agent")),
        ({"ORBIT_ACTOR": "", "USER": "ada"}, Author("ada", "human")),
    ],
)
def test_the_environment_says_who_it_is(
    tmp_path: Path, environment: dict[str, str], author: Author
) -> None:
    assert current_author(Git(tmp_path), environment=environment) == author


def test_a_person_has_gits_name(git_repo: Path, git: Callable[..., str]) -> None:
    """At most 200 characters of it, because records hold no more."""
    git(git_repo, "config", "user.name", "Ada Ünlü")
    assert current_author(Git(git_repo), environment={"USER": "x"}) == Author("Ada Ünlü", "human")

    git(git_repo, "config", "user.name", "A" * 300)
    assert len(current_author(Git(git_repo), environment={}).name) == 200


@pytest.mark.parametrize("name", ["A" * 300, "two\nlines", " "])
def test_a_strange_name_of_an_agent_still_fits_a_record(tmp_path: Path, name: str) -> None:
    author = current_author(
        Git(tmp_path),
        environment={"ORBIT_ACTOR": "agent", "ORBIT_AGENT": name, "ORBIT_MODEL": name},
    )

    assert 0 < len(author.name) <= 200
    assert author.model is None or len(author.model) <= 200
    assert "\n" not in f"{author.name}{author.model}"


def test_the_model_that_is_named_wins(tmp_path: Path) -> None:
    env = {"ORBIT_ACTOR": "agent", "ORBIT_MODEL": "m-1"}

    assert current_author(Git(tmp_path), model="m-2", environment=env).model == "m-2"
    assert current_author(Git(tmp_path), model="m-2", environment={}).model == "m-2"


@pytest.mark.parametrize("value", ["robot", "Human", "0"])
def test_an_unknown_actor_is_a_usage_error(tmp_path: Path, value: str) -> None:
    with pytest.raises(UsageError) as caught:
        current_author(Git(tmp_path), environment={"ORBIT_ACTOR": value})

    assert caught.value.hint == "set it to human or agent"
