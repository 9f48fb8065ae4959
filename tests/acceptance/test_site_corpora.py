"""Sites of real collections: every record has its page, nothing of the text is lost, every link leads somewhere."""

from __future__ import annotations

import re
import shutil
from html import unescape
from pathlib import Path

import pytest

from orbit_registry.importers.detect import import_from
from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site

COLLECTIONS = ["adr__madr", "thomvaill__log4brains", "microsoft__agent-framework", "cometbft__cometbft"]
OURS = {"ORB393", "ORB394", "ORB396", "ORB397"}
"""What would be our own fault: findings of the generator, and links on finished pages that lead nowhere."""
_NOT_SHOWN = re.compile(
    r"\A---\n.*?\n---\n"  # front matter
    r"|^\s*[>-]?\s*(?:`{3,}|~{3,}).*?$|^\[[^\]\n]+\]:.*?$"  # the language of a block, where a reference leads
    r"|\](?:\([^)]*\)|\[[^\]\n]*\])|<!--.*?-->|<[^>\n]*>|https?://\S+",
    re.DOTALL | re.MULTILINE,
)
_WORD = re.compile(r"[^\W_]{4,}")


def words(text: str) -> set[str]:
    """Return the words of four letters or more."""
    return set(_WORD.findall(text))


def assert_complete(root: Path, out: Path) -> int:
    """Build the site and hold each page against its record's text; return how many records there are."""
    registry = Registry.open(root)
    result = build_site(registry, out, snapshot=False)
    assert [one for one in result.diagnostics if one.code in OURS or one.location.position is None] == []
    for record in registry.records:
        page = out / record.kind.plural / record.id / "index.html"
        shown = words(unescape(re.sub(r"<[^>]*>", " ", page.read_text("utf-8"))))
        assert words(unescape(_NOT_SHOWN.sub(" ", record.prose))) - shown == set(), record.id
    index = "".join(file.read_text("utf-8") for file in out.glob("*/index.html"))
    assert all(f'href="{record.id}/"' in index for record in registry.records)
    return len(registry.records)


def test_a_real_registry_becomes_a_site(corpora: Path, tmp_path: Path) -> None:
    """140 decisions and 50 learnings with their design documents: complete, and each two clicks from the start."""
    root = Path(shutil.copytree(corpora / "orbit-2026-07", tmp_path / "repo"))
    (root / "dot_orbit").rename(root / ".orbit")
    import_from(root / ".orbit", start=root)
    assert assert_complete(root, tmp_path / "site") == 190


@pytest.mark.parametrize("name", COLLECTIONS)
def test_an_adopted_collection_becomes_a_site(corpora: Path, tmp_path: Path, name: str) -> None:
    """Decisions in whatever form other tools wrote them are all on the site."""
    root = Path(shutil.copytree(corpora / "adr" / name, tmp_path / "repo"))
    Registry.init(root)
    import_from(root, start=root)
    assert assert_complete(root, tmp_path / "site") > 10
