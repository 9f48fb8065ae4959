"""A receiver of HTTP on loopback, in a process of its own:
it keeps what it is sent, or refuses it.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """
import http.server, pathlib, sys
folder = pathlib.Path(sys.argv[1])
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        refused = (folder / "refuse").exists()
        if not refused:
            number = len(list(folder.glob("*.body")))
            (folder / f"{number:03d}{self.path.replace('/', '_')}.body").write_bytes(body)
        self.send_response(400 if refused else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *said):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


@dataclass(frozen=True)
class Receiver:
    """What listens at `address` (host and port), and keeps bodies in `folder`."""

    address: str
    folder: Path

    def taken(self) -> list[tuple[str, bytes]]:
        """Return what came since somebody asked: paths, with `_` for `/`, and bodies."""
        files = sorted(self.folder.glob("*.body"))
        requests = [(file.name[3:].removesuffix(".body"), file.read_bytes()) for file in files]
        for file in files:
            file.unlink()
        return requests

    def refuse(self, refuses: bool) -> None:
        mark = self.folder / "refuse"
        mark.touch() if refuses else mark.unlink()


@contextmanager
def receiving(folder: Path) -> Iterator[Receiver]:
    folder.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield Receiver(f"127.0.0.1:{process.stdout.readline().strip()}", folder)
        finally:
            process.terminate()


def orbit(shell: Any, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `orbit` in this process, with more in its environment."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        code, out, err = shell(*arguments)
    return subprocess.CompletedProcess(arguments, code, out, err)
