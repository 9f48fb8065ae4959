"""Images that containers are made from, and where Dockerfiles and YAML files name them."""

import re
from collections.abc import Iterator

_DOCKERFILE = re.compile(r"(?:.*\.)?(?:dockerfile|containerfile)(?:\..*)?", re.IGNORECASE)
_FROM = re.compile(
    r"\s*FROM\s+(?:--\S+\s+)*(?P<image>\S+)(?:\s+AS\s+(?P<stage>\S+))?|"
    r"\s*COPY\s+(?:--\S+\s+)*?--from=(?P<source>\S+)",
    re.IGNORECASE,
)
_RUN = re.compile(r"\s*RUN\s+(.*)", re.IGNORECASE)
_YAML = re.compile(r"\s*(?:-\s+)?(?:image|repository):\s*[\"']?([^\s\"'#]+)")
_HOST = re.compile(r"(?:[^/]*[.:][^/]*|localhost)/")


def is_dockerfile(path: str) -> bool:
    """Say whether a file has the name of one that builds an image."""
    return _DOCKERFILE.fullmatch(path.rpartition("/")[2]) is not None


def images_in(path: str, text: str) -> Iterator[tuple[str, int]]:
    """Yield the images that a Dockerfile or a YAML file names, without registry and version, each
    with its line.
    """
    if is_dockerfile(path):
        rows = _dockerfile_images(text)
    elif path.endswith((".yml", ".yaml")):
        rows = _yaml_images(text)
    else:
        return

    for image, line in rows:
        name = _HOST.sub("", image.partition("@")[0], count=1).partition(":")[0]
        if name and "$" not in name and "{" not in name:
            yield name, line


def commands_in(path: str, text: str) -> Iterator[tuple[str, int]]:
    """Yield the shell commands of a Dockerfile, each with its first line."""
    for line, number in _whole_lines(text) if is_dockerfile(path) else ():
        match = _RUN.match(line)
        if match is not None:
            yield match[1], number


def _dockerfile_images(text: str) -> Iterator[tuple[str, int]]:
    stages = {"scratch"}
    for line, number in _whole_lines(text):
        match = _FROM.match(line)
        if match is None:
            continue

        image = match["image"] or match["source"]
        if image.casefold() not in stages and not image.isdigit():
            yield image, number
        if match["stage"]:
            stages.add(match["stage"].casefold())


def _yaml_images(text: str) -> Iterator[tuple[str, int]]:
    for number, line in enumerate(text.split("\n"), 1):
        match = _YAML.match(line)
        if match is not None:
            yield match[1], number


def _whole_lines(text: str) -> Iterator[tuple[str, int]]:
    """Yield the instructions of a Dockerfile, with the lines that continue them."""
    parts: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("#"):
            continue

        parts.append(line.rstrip().removesuffix("\\"))
        if not line.rstrip().endswith("\\"):
            yield " ".join(parts), number - len(parts) + 1
            parts = []

    if parts:
        yield " ".join(parts), text.count("\n") + 2 - len(parts)
