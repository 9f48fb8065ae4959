"""Reference pages of commands, made from their help, and of the Python API, from its docstrings.

The man page, the stub of the registry's operations and their published schemas are made here too.
"""

import ast
import dataclasses
import importlib.util
import inspect
import itertools
import json
import re
import sys
import textwrap
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from orbit_registry.doors.answers import table
from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import Argument, form_of, schema_of
from orbit_registry.doors.answers.table import Operation
from orbit_registry.doors.cli.main import KINDS, command_lines, jobs, orbit
from orbit_registry.registry import Registry
from orbit_registry.seams import kind_folders

WIDTH = 100
HELP = ["-h", "--help"]
HEAD = """\
# Commands

`orbit` and `orbit-registry` are the same program. If a command has `--format json`, it prints one
envelope: `ok`, `data`, `diagnostics`, `next` (commands that make sense now), and `error` with
`hint` if it failed.

| exit code | meaning |
|---|---|
| 0 | it is done, or there was nothing to do |
| 1 | the project says no: findings, a refused change, no record of that id |
| 2 | the call is wrong: an unknown word, an empty one, a file, folder or commit that is not there |
| 3 | a fault in Orbit, or a commit that git can't read |
| 130 | stopped by Ctrl-C or by the answer "no" |

`orbit run` and `orbit mcp wrap` end with the code of the program that they ran.
"""


PYTHON = """\
# Python API

The names on this page are public: a program may import them, and a change of one is in the
changelog. All other modules may change at any time. The package has type hints. `Registry` does
what the commands do, with the same rules: an [agent](agents.md) proposes, and a person accepts.
`registry.operations` has most commands by name. Each returns an `Answer`, whose `data` is what
`--format json` prints as `data`. The plugin of MkDocs is `orbit`:
[the site](site.md#in-a-mkdocs-site-that-you-have-already).

```python
from orbit_registry.registry import Registry
from orbit_registry.seams import kind_folders

registry = Registry.open(".")
for record in registry.records:
    print(record.id, record.status.name, record.title)
```
"""
PUBLIC: Mapping[str, tuple[str, ...]] = {
    "registry": ("Registry",),
    "model.record": ("Record",),
    "operations.adr": ("NewAdr",),
    "search.query": ("Query",),
    "workspace.author": ("Author", "Review"),
    "operations.freshness.verify": ("Verification",),
    "injection": (
        "LearningsContextInjector",
        "AgentRenderer",
        "Learnings",
        "Learning",
        "LearningsCache",
    ),
}
"""Names that programs may import, by module."""


SCHEMAS = Path(__file__).parents[1] / "docs/schemas/operations.schema.json"
STUB = Path(__file__).parent / "orbit_registry/verbs.pyi"


def operations() -> dict[str, Operation]:
    """Return the operations of the table by their names in Python."""
    rows = table.methods()
    return {name: rows[name].load() for name in sorted(rows)}


def methods() -> dict[str, Operation]:
    """Return the operations that are methods of the registry; its other methods come first."""
    return {name: each for name, each in operations().items() if name not in vars(Registry)}


def schemas() -> str:
    """Return the published forms of what operations take and answer."""
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The operations",
        "description": "What each operation takes, with the names that it has in Python, and the "
        "data of its answer where `answers.schema.json` does not say it.",
        "operations": {
            each.name: published(each.run, each.arguments()) for each in operations().values()
        },
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def data_schema(hint: Any) -> Mapping[str, Any]:
    """Return the JSON Schema of an answer's data: a dataclass by field, None where it may be."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return {"anyOf": [data_schema(part) for part in typing.get_args(hint)]}
    if hint is type(None):
        return {"type": "null"}
    if typing.get_origin(hint) in (tuple, list, Sequence):
        return {"type": "array", "items": data_schema(typing.get_args(hint)[0])}
    if typing.get_origin(hint) in (dict, Mapping):
        return {"type": "object", "additionalProperties": data_schema(typing.get_args(hint)[1])}
    if not dataclasses.is_dataclass(hint):
        return schema_of(hint)

    hints = typing.get_type_hints(hint)
    names = [field.name for field in dataclasses.fields(hint)]
    properties = {name: data_schema(hints[name]) for name in names}
    return {
        "type": "object",
        "properties": properties,
        "required": names,
        "additionalProperties": False,
    }


def published(function: Callable[..., Any], arguments: Sequence[Argument]) -> Mapping[str, Any]:
    """Return the JSON Schema of an operation's arguments, and of its data if they are a dataclass
    by field; `answers.schema.json` has the data of the others.
    """
    form = form_of(arguments)
    returned = typing.get_type_hints(function).get("return")
    is_form = dataclasses.is_dataclass(returned) and not hasattr(returned, "as_data")
    if is_form and returned is not Answer:
        return {"arguments": form, "data": data_schema(returned)}

    return {"arguments": form}


def stub() -> str:
    """Return the types of the operations as methods, for those who check types."""
    modules = {"typing"}
    shared = [_method(name, each, modules) for name, each in methods().items()]
    others = {name: each for name, each in operations().items() if name not in methods()}
    with_values = [_method(name, each, modules) for name, each in others.items()]
    imports = "\n".join(f"import {module}" for module in sorted(modules - {"builtins"}))
    lines = ["# Made from the table of operations by reference_pages.py.", imports, ""]
    lines += ["class Shared:", *shared, ""]
    lines += ["class Operations(Shared):", *with_values, ""]
    lines += [
        "class Verbs(Shared):",
        "    @property",
        "    def operations(self) -> Operations: ...",
    ]
    return "\n".join(lines) + "\n"


def _method(name: str, each: Operation, modules: set[str]) -> str:
    hints = typing.get_type_hints(each.run)
    parts = ["self"]
    for argument in list(inspect.signature(each.run).parameters.values())[1:]:
        part = f"{argument.name}: {_hint(hints[argument.name], modules)}"
        if argument.default is not inspect.Parameter.empty:
            is_plain = isinstance(argument.default, str | int | float | tuple | None)
            part += f" = {argument.default!r}" if is_plain else " = ..."
        parts.append(part)

    return f"    def {name}({', '.join(parts)}) -> {_hint(hints['return'], modules)}: ..."


def _hint(hint: Any, modules: set[str]) -> str:
    """Return a type as text, and add the modules that it names."""
    inner = typing.get_args(hint)
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        return " | ".join(_hint(part, modules) for part in inner)
    if hint in (None, type(None), ...):
        return "..." if hint is ... else "None"
    if not inner:
        modules.add(_module(hint))
        return hint.__qualname__ if hint.__module__ == "builtins" else _full_name(hint)

    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        modules.add("typing")
        return f"typing.Literal[{', '.join(map(json.dumps, inner))}]"

    modules.add(_module(origin))
    parts = ", ".join(_hint(part, modules) for part in inner)
    return (
        f"{origin.__qualname__ if origin.__module__ == 'builtins' else _full_name(origin)}[{parts}]"
    )


def _full_name(hint: Any) -> str:
    return f"{_module(hint)}.{hint.__qualname__}"


def _module(hint: Any) -> str:
    """Return the public module of a type: Python 3.13 has `Path` in `pathlib._local`."""
    return str(hint.__module__).partition("._")[0]


def reference() -> dict[str, str]:
    """Return the generated pages of `docs/reference/` by path."""
    pages = {f"commands/{name}": text for name, text in _command_pages().items()}
    pages["python.md"] = _python_page()
    return pages


def _command_pages() -> dict[str, str]:
    context = click.Context(orbit, info_name="orbit")
    index = [HEAD]
    pages = {}
    folders = (KINDS, *kind_folders())
    files = itertools.chain.from_iterable(folder.glob("*/kind.yaml") for folder in folders)
    kinds = {file.parent.name for file in files} - {*command_lines()}
    names_by_job = {title: list(rows) for title, rows in jobs().items()}
    names_by_job["Other kinds of records"] = sorted(kinds)
    names_by_job["Help"] = ["new", "help"]

    for title, names in names_by_job.items():
        index.append(f"## {title}\n")
        job_page = f"{title.lower().replace(' ', '-')}.md"
        sections = []
        for name in names:
            command = orbit.get_command(context, name)
            assert command is not None

            if isinstance(command, click.Group) and name != "new":
                link = f"{name}.md"
                pages[link] = "\n".join(_sections(command, ["orbit", name], "#"))
            else:
                link = f"{job_page}#orbit-{name}"
                sections.append(_section(command, ["orbit", name], "##"))

            index.append(f"- [`orbit {name}`]({link}): {command.get_short_help_str(WIDTH)}")

        if sections:
            pages[job_page] = "\n".join([f"# {title}\n", *sections])

        index.append("")

    return {"index.md": "\n".join(index), **pages}


def _section(command: click.Command, path: list[str], level: str) -> str:
    context = click.Context(
        command,
        info_name=" ".join(path),
        max_content_width=WIDTH,
        terminal_width=WIDTH,
        help_option_names=HELP,
    )
    return f"{level} `{' '.join(path)}`\n\n```text\n{command.get_help(context).rstrip()}\n```\n"


def _sections(command: click.Command, path: list[str], level: str) -> Iterator[str]:
    yield _section(command, path, level)
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None and not inner.hidden:
                yield from _sections(inner, [*path, name], f"{level}#")


def _python_page() -> str:
    parts = [PYTHON]
    for module, names in PUBLIC.items():
        parts.append(f"## `orbit_registry.{module}`\n")
        nodes = [node for node in _source(module).body if isinstance(node, ast.ClassDef)]
        classes = {node.name: node for node in nodes}
        for name in names:
            parts += _class(classes[name])
            if name == "Registry":
                parts += [_operation_entry(*pair) for pair in methods().items()]

    # Its middle paragraph is the tree of the exceptions.
    docstring = str(ast.get_docstring(_source("errors")))
    tree = docstring.partition("\n\n")[2].rpartition("\n\n")[0]
    parts.append(f"## `orbit_registry.errors`\n\n```text\n{tree}\n```\n")
    return "\n".join(parts)


def _operation_entry(name: str, each: Operation) -> str:
    """Return an operation as a method of the registry."""
    signature = _method(name, each, set()).strip().removeprefix("def ").removesuffix(": ...")
    short = re.sub(
        r"\b(?:\w+\.)+(?=[A-Z])", "", signature.replace("self, ", "").replace("self", "")
    )
    what = each.words.help.partition("\n\n")[0]
    return f"`.{short}`\n:   {what}\n"


def _source(module: str) -> ast.Module:
    spec = importlib.util.find_spec(f"orbit_registry.{module}")
    assert spec is not None
    assert spec.origin is not None
    return ast.parse(Path(spec.origin).read_text("utf-8"))


def _class(node: ast.ClassDef) -> Iterator[str]:
    yield f"### `{node.name}`\n\n{_doc(node)}\n"
    fields = [_code(entry) for entry in node.body if isinstance(entry, ast.AnnAssign)]
    methods = {entry.name: entry for entry in node.body if isinstance(entry, ast.FunctionDef)}
    if "__init__" in methods:
        fields = [f"{node.name}({_arguments(methods.pop('__init__'))})"]
    if fields:
        yield "```python\n" + "\n".join(fields) + "\n```\n"

    for name, entry in methods.items():
        if not name.startswith("_"):
            text = textwrap.indent(_doc(entry), "    ").lstrip()
            yield f"`{_signature(node, entry)}`\n:   {text}\n"


def _signature(owner: ast.ClassDef, entry: ast.FunctionDef) -> str:
    marks = {ast.unparse(mark) for mark in entry.decorator_list}
    text = f".{entry.name}"
    if {"classmethod", "staticmethod"} & marks:
        text = f"{owner.name}{text}"
    if not {"property", "cached_property"} & marks:
        text += f"({_arguments(entry)})"
    if entry.returns:
        text += f" -> {_code(entry.returns)}"

    return text


def _arguments(node: ast.FunctionDef) -> str:
    if node.args.args and node.args.args[0].arg in ("self", "cls"):
        del node.args.args[0]

    return _code(node.args)


def _code(node: ast.AST) -> str:
    return ast.unparse(node).replace("'", '"')


def _doc(node: ast.ClassDef | ast.FunctionDef) -> str:
    text = ast.get_docstring(node) or ""
    text = re.sub(r"(?m)^(Args|Raises):$", r"\1:\n", text)
    return re.sub(r"(?m)^ {4}(\w+): ", r"- `\1`: ", text)


MAN_HEAD = r""".TH ORBIT 1 "" orbit\-registry "User Commands"
.SH NAME
orbit \- keep decisions and learnings as reviewed files in git
.SH SYNOPSIS
.B orbit
.RB [ \-C
.IR directory ]
.I command
.RI [ arguments ]
.br
.B orbit help
.RI [ command ]
.SH DESCRIPTION
.PP"""
MAN_TAIL = r""".SH EXIT STATUS
0: clean. 1: findings, or a refused change. 2: wrong usage. 3: a failure of Orbit. 130: stopped.
.SH FILES
.TP
.I .orbit/
Records and config.yaml; commit it.
.TP
.I .orbit/state/, .git/orbit/
Files that Orbit makes again; delete them at any time.
.TP
.I ~/.config/orbit\-registry/, ~/.cache/orbit\-registry/
The commands that you allowed, and caches of read\-only checkouts.
.SH SEE ALSO
.BR git (1)
"""


def manual() -> str:
    """Return the page in the language of man."""
    return "\n".join([MAN_HEAD, *_man_commands(), MAN_TAIL])


def _man_commands() -> Iterator[str]:
    yield _roff(str(orbit.help).partition("\n")[0])
    yield "\\fBorbit help \\fIcommand\\fR shows the options of a command."
    yield ".SH COMMANDS"
    for job, rows in jobs().items():
        yield f".SS {_roff(job)}"
        for name, summary in rows.items():
            yield f".TP\n.B orbit {_roff(name)}\n{_roff(summary)}"


def _roff(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-")


def write(folder: Path) -> None:
    """Write the pages into the folder of the reference, and remove those of former commands."""
    pages = reference()
    for file in folder.glob("commands/*.md"):
        file.unlink()

    for name, text in pages.items():
        (folder / name).write_text(text, "utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
    STUB.write_text(stub(), "utf-8")
    SCHEMAS.write_text(schemas(), "utf-8")
    for man_page in sys.argv[2:]:
        Path(man_page).write_text(manual(), "utf-8")
