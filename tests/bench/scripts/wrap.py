"""Prints how many milliseconds `orbit mcp wrap` adds to a call of a tool, at the median.

A small server answers with a file's text, once behind the wrapper and once by itself; both get the
same calls in turn, each with a file for which records are looked up. Run beside the rows of the
hook.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

TIMES = 300
SERVER = """
import json, sys
for line in sys.stdin.buffer:
    asked = json.loads(line)
    text = "a line of a file\\n" * 200
    result = {"content": [{"type": "text", "text": text}]}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
WRAP = [
    sys.executable,
    "-m",
    "orbit_registry.doors.cli.main",
    "mcp",
    "wrap",
    "--timeout",
    "60000",
    "--",
]


class Server:
    """One running server."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, line: bytes) -> tuple[float, bytes]:
        """Return the milliseconds until the answer is there, and the answer."""
        into, out = self.process.stdin, self.process.stdout
        if into is None or out is None:
            sys.exit("no pipes")
        start = time.perf_counter()
        into.write(line)
        into.flush()
        answer = out.readline()
        return (time.perf_counter() - start) * 1000, answer


paths = json.loads(Path("paths.json").read_text("utf-8"))
command = [sys.executable, "-I", "-S", "-E", "-c", SERVER]
direct, wrapped = Server(command), Server([*WRAP, *command])
costs: tuple[list[float], list[float]] = ([], [])
answered = 0
for number in range(TIMES + 20):
    arguments = {"path": paths[number % len(paths)]}
    call = {
        "jsonrpc": "2.0",
        "id": number,
        "method": "tools/call",
        "params": {"name": "read", "arguments": arguments},
    }
    line = json.dumps(call).encode() + b"\n"
    plain, _ = direct.ask(line)
    ours, answer = wrapped.ask(line)
    answered += b"dev.orbit/learnings" in answer
    if number >= 20:  # the first ones load modules
        costs[0].append(ours)
        costs[1].append(plain)
for server in (direct, wrapped):
    server.process.communicate()
if not answered:
    sys.exit("nothing was put beside a result")
print(median(costs[0]) - median(costs[1]))
