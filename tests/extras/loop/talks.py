"""Transcripts of Claude Code, Codex and Gemini CLI from talks in one notation;
see tests/cases/capture/stumbles.yaml.

A lone `cd FOLDER` holds for the later commands of Claude Code, which keeps its shell's folder.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = "/home/ada/project"
SESSION = "0199c2f0-1111-7222-8333-4444555566{:02d}"
Act = tuple[str, str, str, bool]
"""What is done, its text, its output, and whether it failed."""


def acts_of(talk: str) -> Iterator[Act]:
    """Yield what a talk says, with the outputs of its commands; lines of a prompt are joined."""
    acts: list[list[Any]] = []
    for line in talk.splitlines():
        mark, _, text = line.partition(" ")
        if mark == ">" and acts and acts[-1][0] == ">":
            acts[-1][1] += f"\n{text}"
        elif mark in ("=", "!"):
            acts[-1][2] += f"\n{text}" if acts[-1][2] else text
            acts[-1][3] |= mark == "!"
        elif mark:
            acts.append([mark, text, "", False])
    yield from (tuple(act) for act in acts)


def write_talk(path: Path, agent: str, root: Path, talk: str, number: int = 0) -> Path:
    session, acts = SESSION.format(number % 100), acts_of(talk.replace(ROOT, str(root)))
    if agent == "claude":
        rows = _claude(session, str(root), acts)
    elif agent == "gemini":
        rows = _gemini(session, str(root), acts)
    else:
        rows = _codex(session, str(root), acts, number)

    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def _claude(session: str, root: str, acts: Iterator[Act]) -> Iterator[dict[str, Any]]:
    contents: list[tuple[str, object]] = []
    folders: list[str] = []
    folder = root
    for number, (mark, text, output, failed) in enumerate(acts):
        folders += [folder] * (len(contents) - len(folders))
        if mark in "><":
            contents.append(
                ("user", text) if mark == ">" else ("assistant", [{"type": "text", "text": text}])
            )
            continue
        if mark == "$" and text.startswith("cd ") and "&" not in text:
            folder = f"{root}/{text.removeprefix('cd ')}"
        tool, arguments = {
            "$": ("Bash", {"command": text, "description": "Run it"}),
            "read": ("Read", {"file_path": f"{root}/{text}"}),
            "edit": ("Edit", {"file_path": f"{root}/{text}", "old_string": "a", "new_string": "b"}),
            "web": ("WebFetch", {"url": "https://docs.example", "prompt": "What do they say?"}),
        }[mark]
        result = text if mark == "web" else output or "The file has been updated."
        name = f"toolu_{number:04d}"
        contents += [
            ("assistant", [{"type": "tool_use", "id": name, "name": tool, "input": arguments}]),
            (
                "user",
                [
                    {
                        "type": "tool_result",
                        "tool_use_id": name,
                        "is_error": failed,
                        "content": f"Exit code 1\n{result}" if failed else result,
                    }
                ],
            ),
        ]
    folders += [folder] * (len(contents) - len(folders))
    for number, (role, content) in enumerate(contents):
        yield {
            "parentUuid": str(number - 1) if number else None,
            "isSidechain": False,
            "userType": "external",
            "cwd": folders[number],
            "sessionId": session,
            "version": "2.1.329",
            "gitBranch": "main",
            "type": role,
            "message": {"role": role, "content": content},
            "uuid": str(number),
            "timestamp": f"2026-11-20T09:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
        }


def _gemini(session: str, root: str, acts: Iterator[Act]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a session whose commands name their folder from the root."""
    at = "2026-11-20T11:00:00.000Z"
    yield {"sessionId": session, "projectHash": "0" * 64, "startTime": at, "kind": "main"}
    for number, (mark, text, output, failed) in enumerate(acts):
        row: dict[str, Any] = {"id": f"m{number}", "timestamp": at, "type": "gemini", "content": ""}
        if mark in "><":
            row["type"] = "user" if mark == ">" else "gemini"
            yield {**row, "content": [{"text": text}]}
            continue

        name, arguments = "read_file", {"file_path": f"{root}/{text}"}
        if mark == "edit":
            name, output = "replace", "Successfully modified file"
        elif mark == "$":
            folder, _, after = text.removeprefix("cd ").partition(" && ")
            is_below = text.startswith("cd ") and after
            name = "run_shell_command"
            arguments = {"command": after, "dir_path": folder} if is_below else {"command": text}
            output = f"Command: {text}\nOutput: {output}\nExit Code: {int(failed)}"

        response = {"id": f"r{number}", "name": name, "response": {"output": output}}
        call = {"id": f"r{number}", "name": name, "args": arguments, "status": "success"}
        yield {**row, "toolCalls": [{**call, "result": [{"functionResponse": response}]}]}


def _codex(session: str, root: str, acts: Iterator[Act], number: int) -> Iterator[dict[str, Any]]:
    """Yield rows: those of an even number as its older versions write them,
    of an odd one as its newer do.
    """

    def row(payload: dict[str, Any], kind: str = "response_item") -> dict[str, Any]:
        return {"timestamp": "2026-11-20T10:00:00.000Z", "type": kind, "payload": payload}

    def message(role: str, text: str) -> dict[str, Any]:
        content = [{"type": "output_text" if role == "assistant" else "input_text", "text": text}]
        return row({"type": "message", "role": role, "content": content})

    yield row(
        {"id": session, "cwd": root, "originator": "codex_cli_rs", "cli_version": "0.169.0"},
        "session_meta",
    )
    yield message("user", f"<environment_context>\n  <cwd>{root}</cwd>\n</environment_context>")
    for count, (mark, text, output, failed) in enumerate(acts):
        call = f"call_{count:04d}"
        if mark in "><":
            yield message("user" if mark == ">" else "assistant", text)
        elif mark == "web":
            yield row(
                {"type": "function_call", "name": "web_fetch", "arguments": "{}", "call_id": call}
            )
            yield row({"type": "function_call_output", "call_id": call, "output": text})
        elif mark == "edit":
            patch = f"*** Begin Patch\n*** Update File: {text}\n@@\n-a\n+b\n*** End Patch\n"
            yield row(
                {"type": "custom_tool_call", "name": "apply_patch", "call_id": call, "input": patch}
            )
            yield row(
                {
                    "type": "custom_tool_call_output",
                    "call_id": call,
                    "output": "Success. Updated the files.",
                }
            )
        else:
            command = f"cat {text}" if mark == "read" else text
            old = number % 4 < 2
            folder, _, after = command.removeprefix("cd ").partition(" && ")
            folder, command = (
                (f"{root}/{folder}", after)
                if command.startswith("cd ") and after
                else (root, command)
            )
            arguments = {"command": ["bash", "-lc", command]} if old else {"cmd": command}
            arguments["workdir"] = folder
            result = {
                "output": output,
                "metadata": {"exit_code": int(failed), "duration_seconds": 0.2},
            }
            answer = (
                f"Chunk ID: 1a\nWall time: 0.2 seconds\nProcess exited with code "
                f"{int(failed)}\nOutput:\n{output}"
            )
            name = "shell" if old else "exec_command"
            yield row(
                {
                    "type": "function_call",
                    "name": name,
                    "arguments": json.dumps(arguments),
                    "call_id": call,
                }
            )
            yield row(
                {
                    "type": "function_call_output",
                    "call_id": call,
                    "output": json.dumps(result) if old else answer,
                }
            )
