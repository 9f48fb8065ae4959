"""Purpose of a command: to test, lint, build, install, start a service, …

Programs and wrappers are tables.
"""

from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def _by_word(table: "dict[str, str]") -> "dict[str, str]":
    purposes: dict[str, str] = {}
    for purpose, words in table.items():
        purposes |= dict.fromkeys(words.split(), purpose)

    return purposes


SCRIPTS = _by_word(
    {
        "test": (
            "test tests spec specs unit units e2e integration verify pytest jest vitest nextest"
        ),
        "lint": "lint lints linter check checks eslint ruff clippy vet",
        "types": "types type typecheck typing tsc mypy pyright",
        "build": "build compile bundle dist",
        "format": "format fmt prettier black",
        "install": "install setup bootstrap sync ci deps prepare init restore tools pub",
        "start": "up start serve services service db database infra",
        "generate": "generate codegen gen proto protos stubs assets fixtures configure",
        "migrate": "migrate migrations upgrade seed ecto reset",
    }
)
"""Words in the name of what a runner is given: `test:unit`, `lint`."""
VAGUE = ("service", "services", "db", "database", "infra", "check", "checks")
"""Those of them that say little: another word of the name says more, as in `db:migrate`."""
TOOLS = _by_word(
    {
        "test": (
            "pytest py.test unittest nose2 jest vitest mocha ava rspec phpunit ctest tox "
            "gotestsum playwright cypress pest"
        ),
        "types": "mypy pyright tsc pyrefly",
        "lint": "ruff eslint flake8 pylint golangci-lint shellcheck biome oxlint rubocop",
        "format": "black prettier isort gofmt rustfmt",
        "build": "webpack rollup esbuild tsup",
        "generate": "prisma buf sqlc protoc",
        "start": "redis-server pg_ctl postgres mongod",
    }
)
"""Programs with one purpose."""
ACTIONS = {
    "ruff": ("check", "format"),
    "biome": ("check", "format", "lint"),
    "playwright": ("test", "install"),
    "cypress": ("run", "install"),
    "prisma": ("generate", "migrate"),
}
"""What some of them are told to do, which may be another purpose."""
_RUNNERS = (
    "npm pnpm yarn bun make gmake just nox task rake cargo go mvn mvnw gradle gradlew dotnet mix "
    "deno composer docker docker-compose podman swift bazel sbt rails manage.py pip pip3 uv poetry "
    "pdm bundle nx turbo lerna invoke inv hatch flutter dart zig python ruby node php terraform "
    "tofu pulumi kubectl helm skaffold ansible-playbook psql mysql sqlite3 redis-cli mongosh "
    "alembic flyway cmake meson ninja bazelisk cabal stack lein phpstan artisan symfony flask "
    "django-admin pre-commit melos act colima minikube kind supabase aws gcloud az sam vagrant "
    "ng vite astro expo terragrunt sqlx diesel goose dbmate knex"
)
RUNNERS = frozenset(_RUNNERS.split())  # programs whose purpose is in their arguments
_WRAPPERS = (
    "uv run, uvx, uv tool run, poetry run, pdm run, hatch run, pipenv run, rye run, pixi run, "
    "conda run, pipx run, bundle exec, fvm, pnpm exec, pnpm dlx, yarn exec, yarn dlx, npm exec, "
    "npx, bunx, bun x, mise exec, python -m, coverage run -m, dotenv run, corepack, doppler run, "
    "xvfb-run, env, time, time -p, nice, sudo, sudo -n, xargs, nohup, command, exec, builtin, "
    "stdbuf, mise x, asdf exec, rbenv exec, pyenv exec, volta run, devbox run, op run, ionice, "
    "caffeinate"
)
_CONTAINERS = (
    "docker compose exec, docker compose run, docker-compose exec, docker-compose run, "
    "docker exec, docker run, podman exec, podman run, direnv exec, timeout, gtimeout, rustup run, "
    "nvm exec, fnm exec, aws-vault exec, chamber exec, flock"
)
WRAPPERS = dict.fromkeys(_WRAPPERS.split(", "), 0) | dict.fromkeys(_CONTAINERS.split(", "), 1)
"""Beginnings of commands that start another program, and how many words precede that program."""
_WITH_VALUE = (
    "-e -u -w -f -p -n -C -W -X -F -pl --env --user --workdir --file --package --python --with "
    "--extra --group --project --context --namespace --config --directory --prefix --filter "
    "--env-file --profile --from --spec --name --manifest-path --cwd --workspace"
)
WITH_VALUE = frozenset(_WITH_VALUE.split())
"""Options, before a program or a script, that a value follows."""
_NOUNS = _by_word(
    {
        "test": "test tests testing tested suite",
        "lint": "lint linter linting",
        "types": "typecheck typechecker",
        "build": "build builds built building",
        "format": "formatter formatted formatting",
        "install": "install installs installed",
    }
)
"""Words of a headline that say which commands it is about."""
SESSIONS = ("-s", "-e", "-rs", "--session", "--sessions")
SHELLS = ("bash", "sh", "zsh")
WINDOWS = ("exe", "cmd", "bat", "ps1")


def name_of(word: str) -> str:
    """Return the name of the program that a word starts: `.venv/bin/python3.12` is `python`."""
    name = word.replace("\\", "/").rpartition("/")[2]
    stem, _, suffix = name.rpartition(".")
    if stem and suffix.lower() in WINDOWS:
        name = stem

    is_python = name.startswith("python") and not name[6:].strip("0123456789.")
    if name == "py" or is_python:
        return "python"

    return name


def program_at(words: "Sequence[str]") -> int:
    """Return the position of the program that a command starts through wrappers; 0 without one."""
    start = 0
    while True:
        end, operands = _wrapper_at(words, start)
        if not end:
            break

        start = _behind_operands(words, end, operands)

    is_manage = words[start + 1 : start + 2] == ["manage.py"] and name_of(words[start]) == "python"
    return start + is_manage


def _wrapper_at(words: "Sequence[str]", start: int) -> tuple[int, int]:
    """Return where the longest wrapper ends, and how many words precede its program; 0 if none."""
    phrase, end, operands = "", 0, 0
    position = start
    while position < len(words) and phrase.count(" ") < 2:
        word = words[position] if phrase else name_of(words[position])
        longer = f"{phrase} {word}" if phrase else word
        position += 1
        if word[:1] == "-" and longer not in WRAPPERS:
            position += word in WITH_VALUE
            continue

        phrase = longer
        if phrase in WRAPPERS:
            end, operands = position, WRAPPERS[phrase]

    return end, operands


def _behind_operands(words: "Sequence[str]", start: int, operands: int) -> int:
    """Return where the program begins behind a wrapper's options, settings and other words."""
    while start < len(words):
        word = words[start]
        if word[:1] == "-":
            start += word in WITH_VALUE
        elif not _is_setting(word):
            if not operands:
                break

            operands -= 1

        start += 1

    return start


def _is_setting(word: str) -> bool:
    return word.partition("=")[0].isidentifier() and "=" in word


def script_of(words: "Sequence[str]") -> str:
    """Return what a runner runs: nox's session, the script after `run`, or the first argument."""
    if name_of(words[0]) == "nox":
        for option, session in pairwise(words):
            if option in SESSIONS:
                return session

        return ""

    is_value = False
    for word in words[1:]:
        is_plain = not (is_value or word[:1] in "-+" or "=" in word or word.isdigit())
        if is_plain and word not in ("run", "pip", "compose"):
            return word

        is_value = word in WITH_VALUE and not is_value

    return ""


def script_file(words: "Sequence[str]") -> str:
    """Return the file that a shell runs: `bash -e ci/test.sh`; empty for `bash -c TEXT`."""
    for word in words[1:]:
        if word[:1] != "-":
            return word
        if word[1:2] != "-" and "c" in word:
            return ""

    return ""


def purpose_of(words: "Sequence[str]") -> str:
    """Return the purpose of a command, behind its wrappers; empty if unknown."""
    words = words[program_at(words) :]
    name = name_of(words[0]) if words else ""
    if name in TOOLS:
        purpose = TOOLS[name]
        if len(words) > 1 and words[1] in ACTIONS.get(name, ()):
            purpose = SCRIPTS.get(words[1], purpose)

        return purpose

    if name in SHELLS:
        name = name_of(script_file(words) or name)

    script = ""
    if name in RUNNERS:
        script = script_of(words)
    elif name.endswith(".sh"):
        script = name.removesuffix(".sh")

    if " " in script:
        return ""

    vague = ""
    for part in _parts_of(script):
        if part in SCRIPTS and part not in VAGUE:
            return SCRIPTS[part]
        vague = vague or SCRIPTS.get(part, "")

    return vague


def _parts_of(script: str) -> list[str]:
    """Return the words in the name of a script: `testUnit:fast` is test, unit, fast."""
    parted = ""
    for character in script:
        if character.isupper():
            parted += f":{character.lower()}"
        else:
            parted += character if character.isalnum() else ":"

    return parted.split(":")


def purposes_in(headline: str) -> "list[str]":
    """Return the purposes of a sentence: of the commands in backticks, and of its nouns."""
    purposes: dict[str, None] = {}
    for position, text in enumerate(headline.split("`")):
        words = text.split()
        if position % 2:
            purposes[purpose_of(tuple(words))] = None
            continue

        for word in words:
            noun = word.strip(".,:;!?()'\"").casefold()
            purposes[_NOUNS.get(noun, "")] = None

    purposes.pop("", None)
    return list(purposes)
