"""Search by meaning: off unless configured, vectors kept by text and model,
and words alone where the model fails.
"""

import contextlib
import json
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.files import write

from orbit_registry.doors.cli.main import run
from orbit_registry.registry import Registry
from orbit_registry.search.query import Query
from orbit_registry.search.search import Searcher
from orbit_registry.search.vectors import unit, z_fused

pytestmark = pytest.mark.usefixtures("programs_on")

TOPICS = {"car": 0, "automobile": 0, "vehicle": 0, "bread": 1, "loaf": 1, "ledger": 2}


class Topics:
    """A tiny model: a text is how often it speaks of each of three topics."""

    def __init__(self, name: str = "topics 1", floor: float = 0.01) -> None:
        self.name, self.floor = name, floor
        self.made: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.made += texts
        words = [[word.strip(".,").lower() for word in text.split()] for text in texts]
        return [
            [
                sum(TOPICS.get(word) == topic for word in text_words) + self.floor
                for topic in range(3)
            ]
            for text_words in words
        ]


@pytest.fixture(scope="module")
def filled(_first_commit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make one repository with three learnings, for `root` to copy."""
    folder = Path(shutil.copytree(_first_commit, tmp_path_factory.mktemp("vectors") / "repo"))
    with contextlib.chdir(folder):
        assert run(["init", "--yes"]) == 0
        for summary in ("Wash the automobile weekly", "Bake a loaf slowly", "Keep one ledger"):
            assert run(["learning", "add", "--summary", summary]) == 0
    return folder


@pytest.fixture
def root(filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = Path(shutil.copytree(filled, tmp_path / "repo"))
    monkeypatch.chdir(root)
    return root


def configure(root: Path, more: str) -> None:
    with (root / ".orbit/config.yaml").open("a", encoding="utf-8") as file:
        file.write(f"{more}\n")


def titles(searcher: Searcher, text: str) -> list[str]:
    return [hit.record.title for hit in searcher.search(Query(text)).hits]


def searcher_of(root: Path, model: Topics) -> Searcher:
    registry = Registry.open(root)
    return Searcher(registry.workspace, registry.records, lambda path: (), lambda: model)


def test_synonyms_are_found(root: Path) -> None:
    assert titles(Registry.open(root).searcher, "car") == []
    searcher = searcher_of(root, Topics())
    assert titles(searcher, "car")[0] == "Wash the automobile weekly"
    (first, *_) = searcher.search(Query("car")).hits
    assert first.parts.via == "meaning"
    assert 0 < first.score <= 1
    searcher = searcher_of(root, Topics("far", floor=0.0))
    assert titles(searcher, "car") == ["Wash the automobile weekly"]
    assert {*titles(searcher, "slowly vehicle")[:2]} == {
        "Bake a loaf slowly",
        "Wash the automobile weekly",
    }


def test_vectors_are_cached_by_text_and_model(root: Path) -> None:
    first, again, other = Topics(), Topics(), Topics("topics 2")
    titles(searcher_of(root, first), "car")
    assert len(first.made) == 4
    titles(searcher_of(root, again), "car")
    assert again.made == ["car"]
    assert run(["learning", "add", "--summary", "Sell bread"]) == 0
    more = Topics()
    titles(searcher_of(root, more), "car")
    assert len(more.made) == 2
    titles(searcher_of(root, other), "car")
    assert len(other.made) == 5


def test_a_secret_reaches_no_model(root: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    file = next((root / ".orbit/learnings").glob("*/learning.yaml"))
    file.write_text(
        re.sub("(?m)^summary: .*", f"summary: Rotate {secret} soon", file.read_text("utf-8")),
        "utf-8",
    )
    model = Topics()
    titles(searcher_of(root, model), f"ledger {secret}")
    assert secret not in "".join(model.made)


def test_a_failing_model_leaves_words_and_a_note(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = titles(Registry.open(root).searcher, "ledger")
    config = root / ".orbit/config.yaml"
    text = config.read_text("utf-8")
    broken = [sys.executable, "-c", "print('no vectors')"]
    for setting in (
        '{model: "no/such/model"}',
        f"{{command: {json.dumps(broken)}}}",
        '{command: ["no-such-program"]}',
    ):
        config.write_text(f"{text}search: {setting}\n", "utf-8")
        result = Registry.open(root).search(Query("ledger"))
        assert [hit.record.title for hit in result.hits] == plain
        assert result.note.startswith("searched by words alone: ")
    capsys.readouterr()
    assert run(["search", "ledger"]) == 0
    assert capsys.readouterr().err.count("searched by words alone") == 1


PROGRAM = """
import json, sys
topics = {"car": 0, "automobile": 0, "loaf": 1, "ledger": 2}
texts = json.load(sys.stdin)["texts"]
said = [[word.strip(".,").lower() for word in text.split()] for text in texts]
of = lambda one, n: sum(topics.get(word) == n for word in one) + (0.5 if n == 2 and "slowly" in one else 0.01)
print(json.dumps({"vectors": [[of(one, n) for n in range(3)] for one in said]}))
"""  # noqa: E501


def test_sql_ranks_by_exact_cosine(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def asked(sql: str) -> list[dict[str, Any]]:
        capsys.readouterr()
        assert run(["query", sql, "--format", "json"]) == 0
        rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["data"]
        return rows

    assert asked("WITH vectors AS (SELECT 1 AS one) FROM vectors") == [{"one": 1}]
    (root / "model.py").write_text(PROGRAM, "utf-8")
    command = json.dumps([sys.executable, str(root / "model.py")])
    configure(root, f"search: {{command: {command}}}")
    stored = asked(
        "SELECT r.title, v.model, v.vector FROM vectors AS v JOIN records AS r USING (content_hash)"
    )
    assert {row["title"]: row["vector"].index(max(row["vector"])) for row in stored} == {
        "Wash the automobile weekly": 0,
        "Bake a loaf slowly": 1,
        "Keep one ledger": 2,
    }
    assert {row["model"] for row in stored} == {f"command {command}"}
    first, *others = asked("SELECT title, cosine FROM meaning('car')")
    assert first["title"] == "Wash the automobile weekly"
    assert first["cosine"] > 0.999
    assert all(abs(row["cosine"]) < 0.1 for row in others)
    (ledger,) = asked("SELECT id FROM records WHERE title = 'Keep one ledger'")
    nearest = [
        "Bake a loaf slowly",
        "Wash the automobile weekly",
    ]  # the one has a share of it, the other nothing
    assert [row["title"] for row in asked(f"FROM near('{ledger['id']}')")] == nearest

    assert run(["snapshot", "export", str(tmp_path / "out.duckdb"), "--vectors"]) == 0
    with duckdb.connect(str(tmp_path / "out.duckdb"), read_only=True) as connection:
        near = connection.execute("SELECT title FROM near(?)", [ledger["id"]]).fetchall()
        assert [title for (title,) in near] == nearest
        assert connection.execute(
            "SELECT count(DISTINCT content_hash) FROM vectors"
        ).fetchone() == (3,)


def test_vectors_of_withheld_records_are_not_exported(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["snapshot", "export", "out.duckdb", "--vectors"]) == 2
    assert "search.model" in capsys.readouterr().err
    (root / "model.py").write_text(PROGRAM, "utf-8")
    command = json.dumps([sys.executable, str(root / "model.py")])
    configure(root, f"search: {{command: {command}}}\nsite: {{publish: {{kinds: [learning]}}}}")
    assert run(["snapshot", "export", "out.duckdb", "--vectors"]) == 2
    assert "--unfiltered" in capsys.readouterr().err
    assert run(["snapshot", "export", "out.duckdb", "--vectors", "--unfiltered"]) == 0


def test_both_rankings_count() -> None:
    fused = z_fused({"a": 0.9, "b": 0.8, "c": 0.1}, {"a": 0.0, "b": 0.9, "c": 0.1, "d": 0.8}, 2)

    assert fused[0][0] == "b"
    assert {key for key, _ in fused} == {"a", "b", "c", "d"}
    scores = [score for _, score in fused]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert z_fused({}, {}, 5) == []
    assert list(unit([3.0, 4.0])) == pytest.approx([0.6, 0.8])
    assert list(unit([0.0])) == [0.0]


LIBRARY = """
import pathlib
class StaticModel:
    @classmethod
    def from_pretrained(cls, place):
        pathlib.Path({log!r}).write_text(str(place))
        {then}
        return cls()
    def encode(self, texts):
        return [[1.0, 0.5] for _ in texts]
"""


@pytest.fixture
def library(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return what searches with a model by a stand-in of the library:
    the note, and which model it was asked for.
    """

    def searched(model: str, then: str = "") -> tuple[str, str]:
        log = tmp_path / "asked"
        write(tmp_path, "library/model2vec.py", LIBRARY.format(log=str(log), then=then or "pass"))
        monkeypatch.syspath_prepend(tmp_path / "library")
        monkeypatch.delitem(sys.modules, "model2vec", raising=False)
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        configure(root, f"search: {{model: {json.dumps(model)}}}")
        result = Registry.open(root).search(Query("ledger"))
        assert "Keep one ledger" in [hit.record.title for hit in result.hits]
        return result.note, log.read_text("utf-8") if log.exists() else ""

    yield searched
    sys.modules.pop("model2vec", None)


@pytest.mark.parametrize("setting", ['{model: "some/model"}', '{command: ["touch", "owned"]}'])
def test_no_model_is_used_where_programs_are_off(
    root: Path, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    configure(root, f"search: {setting}")
    monkeypatch.setenv("ORBIT_PROGRAMS", "off")

    result = Registry.open(root).search(Query("ledger"))

    assert [hit.record.title for hit in result.hits] == ["Keep one ledger"]
    assert result.note.startswith("searched by words alone: `search.")
    assert "ORBIT_PROGRAMS is off" in result.note
    assert not (root / "owned").exists()


@pytest.mark.parametrize(
    "model", ["/OUTSIDE", "../outside", "linked", "dangling", "inner", "a-file", "~/model"]
)
def test_no_model_is_read_from_outside_the_project(
    root: Path, tmp_path: Path, library: Any, model: str
) -> None:
    (tmp_path / "outside").mkdir()
    (root / "linked").symlink_to(tmp_path / "outside")
    (root / "dangling").symlink_to(tmp_path / "nowhere")
    (root / "inner").mkdir()
    (root / "inner/model.safetensors").symlink_to(tmp_path / "nowhere")
    (root / "a-file").touch()

    note, loaded = library(model.replace("/OUTSIDE", str(tmp_path / "outside")))

    assert note.startswith("searched by words alone: ")
    assert loaded == ""


def test_a_folder_of_the_project_is_loaded(root: Path, library: Any) -> None:
    (root / "model").mkdir()
    assert library("model") == ("", str(root / "model"))


@pytest.mark.parametrize(
    "then", ["raise OSError", "raise ValueError('')", "raise Exception", "return None"]
)
def test_a_failing_library_leaves_a_note(library: Any, then: str) -> None:
    note, loaded = library("some/model", then)
    assert note.startswith("searched by words alone: the model some/model can't be loaded: ")
    assert loaded == "some/model"
