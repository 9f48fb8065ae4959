"""The man page `orbit.1`, made from the list of commands."""

import sys
from collections.abc import Iterator
from pathlib import Path

from orbit_registry.cli.main import JOBS, orbit

HEAD = r""".TH ORBIT 1 "" orbit\-registry "User Commands"
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
TAIL = r""".SH EXIT STATUS
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
    return "\n".join([HEAD, *_commands(), TAIL])


def _commands() -> Iterator[str]:
    yield _roff(str(orbit.help).partition("\n")[0])
    yield "\\fBorbit help \\fIcommand\\fR shows the options of a command."
    yield ".SH COMMANDS"
    for job, rows in JOBS.items():
        yield f".SS {_roff(job)}"
        for name, (_, summary) in rows.items():
            yield f".TP\n.B orbit {_roff(name)}\n{_roff(summary)}"


def _roff(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(manual(), "utf-8")
