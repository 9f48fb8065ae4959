"""Kind `by`: a rule of another program, proved on by reading its configuration; nothing is run."""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from orbit_enforce.kind import CheckKind, Fields, Survey, Tree
from orbit_registry.formats.codeowners import OWNER_FILES, owner_sections, owners_of_file
from orbit_registry.formats.globs import GlobIndex, readable_globs

_CI = GlobIndex(
    [
        (
            "ci",
            readable_globs(
                (
                    ".github/workflows/*",
                    ".gitlab-ci.yml",
                    ".ci/**",
                    "ci/**",
                    "{noxfile.py,tox.ini,Makefile,justfile}",
                    "lefthook.y*ml",
                    ".pre-commit-config.yaml",
                    "**/package.json",
                    ".forgejo/workflows/*",
                    "bitbucket-pipelines.yml",
                )
            ),
        )
    ]
)
_RUFF_DEFAULTS = ("E4", "E7", "E9", "F")


def _make(fields: Fields, must: str) -> Survey:
    engine, rule = fields["engine"], fields["rule"]
    why_off, program = _ENGINES[engine]

    def find(tree: Tree, files: Sequence[str]) -> Iterator[tuple[str, str]]:
        try:
            reason = why_off(tree, rule, files)
        except (
            AttributeError,
            KeyError,
            TypeError,
            ValueError,
            RecursionError,
        ):  # the program would refuse it too
            reason = "its configuration can't be read"

        if reason is None and program and not _is_in_ci(tree, program):
            reason = f"no file of CI names `{program}`"
        if reason is not None:
            yield "", f"{engine} does not check `{rule}`: {reason}"

    return Survey(find)


def _is_in_ci(tree: Tree, program: str) -> bool:
    return any(program in (tree.text(path) or "") for path in tree.paths if _CI.match(path))


def _toml(tree: Tree, path: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(tree.text(path) or "")
    except ValueError:
        return {}


def _ruff(tree: Tree, rule: str, files: Sequence[str]) -> str | None:
    ruff_file = next((path for path in (".ruff.toml", "ruff.toml") if path in tree.paths), None)
    if ruff_file:
        table = _toml(tree, ruff_file)
    else:
        table = _toml(tree, "pyproject.toml").get("tool", {}).get("ruff")

    if not table:
        return "there is no configuration of ruff"

    lint = {**table, **table.get("lint", {})}
    selected = [*lint.get("select", _RUFF_DEFAULTS), *lint.get("extend-select", ())]
    ignored = [*lint.get("ignore", ()), *lint.get("extend-ignore", ())]
    if _specific(rule, selected) <= _specific(rule, ignored):
        return "it is not selected"

    for text, codes in {
        **lint.get("per-file-ignores", {}),
        **lint.get("extend-per-file-ignores", {}),
    }.items():
        off = [path for path in files if _is_ignored(text, path)] if _specific(rule, codes) else []
        if off:
            return f"`per-file-ignores` turns it off for {off[0]}"

    return None


def _is_ignored(pattern: str, path: str) -> bool:
    """Say whether a pattern of ruff is about a file:
    its stars match `/`, and `!` turns it round.
    """
    names = (f"/{path}", path, path.rpartition("/")[2])
    return any(
        fnmatchcase(name, pattern.removeprefix("!")) for name in names
    ) != pattern.startswith("!")


def _specific(rule: str, selectors: Sequence[str]) -> int:
    """Return how much of a rule's code the closest selector names; 0 for none."""
    matching = (text for text in selectors if text == "ALL" or rule.startswith(text))
    return max((1 if text == "ALL" else len(text) + 1 for text in matching), default=0)


def _import_linter(tree: Tree, rule: str, files: Sequence[str]) -> str | None:
    contracts = (
        _toml(tree, "pyproject.toml").get("tool", {}).get("importlinter", {}).get("contracts", [])
    )
    names = [contract.get("id") for contract in contracts]
    names += [contract.get("name") for contract in contracts]
    for path in (".importlinter", "setup.cfg"):
        text = tree.text(path) if path in tree.paths else None
        names += re.findall(r"(?m)^\[importlinter:contract:([^\]]+)\]", text or "")
    if rule in names:
        return None

    return "no contract has this id"


def _biome(tree: Tree, rule: str, files: Sequence[str]) -> str | None:
    path = next((path for path in ("biome.json", "biome.jsonc") if path in tree.paths), None)
    text = re.sub(r"(?m)^\s*//.*$", "", (tree.text(path) or "") if path else "")
    try:
        data = json.loads(re.sub(r",(\s*[\]}])", r"\1", text))
        plugins = [
            entry if isinstance(entry, str) else str(entry.get("path"))
            for entry in data.get("plugins", ())
        ]
        if rule.endswith(".grit"):
            if any(plugin.endswith(rule) for plugin in plugins):
                return None

            return "no plugin has this name"

        group, _, name = rule.partition("/")
        setting = data["linter"]["rules"][group][name]
    except (ValueError, KeyError, TypeError, AttributeError):
        return "biome.json does not name it"

    value = setting.get("level") if isinstance(setting, dict) else setting
    if value in ("error", "warn", "on"):
        return None

    return f"it is {value}"


def _semgrep(tree: Tree, rule: str, files: Sequence[str]) -> str | None:
    texts = [
        tree.text(path) or ""
        for path in tree.paths
        if re.match(r"(.*/)?\.?semgrep(\.ya?ml|/.*\.ya?ml)$", path)
    ]
    form = re.compile(rf"(?m)^\s*-?\s*id:\s*[\"']?{re.escape(rule)}[\"']?\s*$")
    if any(form.search(text) for text in texts):
        return None

    return "no rule has this id"


def _codeowners(tree: Tree, rule: str, files: Sequence[str]) -> str | None:
    path = next((path for path in OWNER_FILES if path in tree.paths), None)
    text = tree.text(path) if path else None
    sections = owner_sections((text or "").encode("utf-8", "surrogateescape"))
    for file in files:
        owners = owners_of_file(sections, file)
        if rule not in owners:
            return f"{file} has {' '.join(owners) or 'no owner'}"
    if files:
        return None

    return "the check has no file"


_ENGINES: Mapping[str, tuple[Callable[[Tree, str, Sequence[str]], str | None], str]] = {
    "ruff": (_ruff, "ruff"),
    "import-linter": (_import_linter, "lint-imports"),
    "biome": (_biome, "biome"),
    "semgrep": (_semgrep, "semgrep"),
    "codeowners": (_codeowners, ""),
}
"""Each with the function that says why a rule is off,
and the program that a file of CI has to name.
"""

KIND = CheckKind(
    name="by",
    properties={
        "engine": {"enum": sorted(_ENGINES)},
        "rule": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": r"^\S(.*\S)?$"},
    },
    required=("engine", "rule"),
    make=_make,
    needs_tree=True,
    is_reference=True,
)
