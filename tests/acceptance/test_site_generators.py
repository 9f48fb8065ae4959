"""Other generators and themes make the same pages from the same staged tree."""

import json
import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from tests.acceptance.site_cases import copied, with_every_kind

NAMES = {"materialx": "mkdocs"}
"""The generators of themes that have another name than these."""
OTHER = os.environ.get("ORBIT_GENERATOR", "")
PYTHON = os.environ.get("ORBIT_GENERATOR_PYTHON", "")
THEIRS = {"zensical"}
"""What has a frame of its own: pages are equal there but for the title of the start page, a link
that leads past the header, and the labels of two buttons."""
_CODE = re.compile(r"(?s)<(script|style|svg)\b.*?</\1>")
_HASH = re.compile(r" 'sha256-[^']*'")
_TAG = re.compile(r"<[^>]*>")
_LINK = re.compile(r'<a\b[^>]*?href="([^"]*)"')
_FACTS = {
    "title": re.compile(r"(?s)<title>(.*?)</title>"),
    "language": re.compile(r'<html[^>]*\blang="([^"]*)"'),
    "description": re.compile(r'<meta name="description" content="([^"]*)"'),
    "policy": re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)"'),
}


def test_another_generator_makes_the_same_site(tmp_path: Path) -> None:
    if not PYTHON:
        pytest.skip("needs another generator: `nox -s zensical` brings one")

    first, findings = built(tmp_path / "mkdocs", "mkdocs", sys.executable)
    second, other_findings = built(tmp_path / OTHER, NAMES.get(OTHER, OTHER), PYTHON)

    assert set(pages(first)) == set(pages(second))
    for name, page in pages(first).items():
        expected, actual = facts(page, name), facts(second / name, name)
        if OTHER in THEIRS:
            for each in (expected, actual):
                del each["title"], each["text"]
                each["links"] = {link for link in each["links"] if "#" not in link}

        assert actual == expected, name
    assert other_findings == findings
    for data in ("titles.json", "words.json"):
        assert sections(second / "search" / data) == sections(first / "search" / data)


def built(folder: Path, generator: str, python: str) -> tuple[Path, list[tuple[str, str]]]:
    """Build the site of the case with a generator of an environment; return its findings too."""
    root = with_every_kind(copied("demo", folder / "repo"))
    config = root / ".orbit/config.yaml"
    settings = f"{config.read_text('utf-8').rstrip()}\n  generator: {generator}\n"
    config.write_text(settings, "utf-8")
    words = ("site", "build", "--out", str(folder / "site"), "--format", "json")
    done = subprocess.run(
        [python, "-m", "orbit_registry", *words], cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr + done.stdout
    problems: list[dict[str, Any]] = json.loads(done.stdout)["diagnostics"]
    return folder / "site", sorted((problem["code"], problem["message"]) for problem in problems)


def pages(site: Path) -> dict[str, Path]:
    return {path.relative_to(site).as_posix(): path for path in site.rglob("*.html")}


def facts(page: Path, name: str) -> dict[str, Any]:
    """Return what a page says and where it leads to, without markup, and what its head says."""
    html = page.read_text("utf-8")
    body = _CODE.sub("", html[html.index("<body") :])
    article = body.partition("<article")[2].partition("</article>")[0].partition(">")[2]
    links = [unescape(link) for link in _LINK.findall(body)]
    result: dict[str, Any] = {}
    for fact, pattern in _FACTS.items():
        match = pattern.search(html)
        result[fact] = match and _HASH.sub("", match[1])

    result["article"] = text_of(article)
    result["text"] = text_of(body)
    result["links"] = [
        urljoin(f"https://site/{name.removesuffix('index.html')}", link) for link in links
    ]
    return result


def text_of(html: str) -> str:
    return " ".join(unescape(_TAG.sub(" ", html)).split())


def sections(file: Path) -> object:
    return json.loads(file.read_text("utf-8"))
