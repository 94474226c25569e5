"""A stand-in for the `bd` program, with the documented behaviour of its command line.

Lists are arrays, cut by default; closed issues are hidden; without an id the last changed issue is used; the result is
an object, or an array for `update` and `close`; errors are JSON on stderr, among other lines.
"""

import sys
from pathlib import Path

PROGRAM = r"""
import json, os, sys

args = sys.argv[1:]
home = os.environ.get("BEADS_DIR", ".beads")
store = os.path.join(home, "store.json")
with open(os.path.join(home, "calls.jsonl"), "a") as file:
    file.write(json.dumps({"args": args, "cwd": os.getcwd(), "env": dict(os.environ)}) + "\n")
if os.path.exists(os.path.join(home, "break")):
    sys.stdout.write("Segmentation fault, almost\n")
    sys.exit(0)


def fail(words, code):
    sys.stderr.write("warning: the daemon is old\n")
    sys.stderr.write(json.dumps({"schema_version": 1, "error": words, "code": code}) + "\n")
    sys.exit(1)


def say(data):
    if os.environ.get("BD_JSON_ENVELOPE") == "1":
        data = {"schema_version": 1, "data": data}
    elif isinstance(data, dict):
        data = {"schema_version": 1, **data}
    print(json.dumps(data, indent=2))


def option(name, default=None):
    for at, word in enumerate(args):
        if word == name:
            return args[at + 1]
        if word.startswith(name + "="):
            return word[len(name) + 1:]
    return default


if not os.path.exists(store):
    fail("no beads database found", "no_database")
with open(store) as file:
    state = json.load(file)
issues = state["issues"]
command = args[0]
if "--json" not in args:
    fail("this stand-in speaks JSON only", "usage")
if command in ("list", "ready"):
    usual = "50" if command == "list" else "100"
    limit = int(option("--limit", usual))
    shown = [one for one in issues if one["status"] != "closed" or (command == "list" and "--all" in args)]
    if command == "ready":
        shown = [one for one in shown if one["status"] == "open"]
    say(shown[:limit] if limit else shown)
    sys.exit(0)
names = [word for word in args[1:] if not word.startswith("-")]
if command == "create":
    title = option("--title")
    if not title:
        fail("title required", "usage")
    new = {"id": "bd-" + str(len(issues) + 1), "title": title, "description": option("--description", ""),
           "status": "open", "created_by": os.environ.get("BEADS_ACTOR", "?")}
    issues.append(new)
    state["last"] = new["id"]
    answer = new
elif command in ("update", "close"):
    wanted = names[0] if names else state.get("last")
    found = [one for one in issues if one["id"] == wanted]
    if not found:
        fail("issue " + str(wanted) + " not found", "not_found")
    status = "closed" if command == "close" else option("--status")
    if status not in ("open", "in_progress", "blocked", "deferred", "closed"):
        fail("invalid status: " + str(status), "invalid")
    found[0]["status"] = status
    state["last"] = wanted
    answer = found
else:
    fail("unknown command", "usage")
with open(store, "w") as file:
    json.dump(state, file)
say(answer)
"""


def install(folder: Path) -> Path:
    """Put the program into a folder for the PATH."""
    folder.mkdir(exist_ok=True)
    program = folder / "bd"
    program.write_text(f"#!{sys.executable} -IS\n{PROGRAM}")
    program.chmod(0o755)
    return program
