"""The options of commands that start without click, in tables from which click's options and help are made too.

Importing click takes longer than packing a small project, so only a command line that `parse_options` does not
understand goes to click, for its errors, help and completion.
"""

import os
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

FORMATS = ("text", "markdown", "xml", "json")


class PlainOption(NamedTuple):
    """One option. `kind` is flag, text, int, float or optional (a text that may be omitted)."""

    flags: tuple[str, ...]
    name: str
    help: str
    kind: str = "flag"
    metavar: str = ""
    default: Any = None
    multiple: bool = False
    choices: tuple[str, ...] = ()
    file: bool = False


def _flag(flags: str, name: str, meaning: str) -> PlainOption:
    return PlainOption(tuple(flags.split()), name, meaning)


def _text(flags: str, name: str, metavar: str, meaning: str, **more: Any) -> PlainOption:
    settings: dict[str, Any] = {"kind": "text", "metavar": metavar, "default": "", **more}
    return PlainOption(tuple(flags.split()), name, meaning, **settings)


_file = partial(_text, file=True)


def _number(flags: str, name: str, meaning: str, **more: Any) -> PlainOption:
    return _text(flags, name, "N", meaning, **{"kind": "int", "default": None, **more})


# fmt: off
GROUPS = (
    ("Select files", (
        _text("-r --rule", "rules", "RULE", "Include PATTERN, or exclude !PATTERN; repeatable.", multiple=True),
        _text("--only", "only", "GLOB", "Keep only files that match GLOB, of those that the rules select; repeatable.",
              multiple=True),
        _file("--config", "config", "FILE", "Read rules from FILE; weaker than .contextfiles."),
        _flag("--no-gitignore", "no_gitignore", "Do not read .gitignore, .ignore and git's exclude files."),
        _flag("--no-defaults", "no_defaults", "Do not apply the built-in exclusions."),
        _file("--files-from", "files_from", "FILE", "Read targets from FILE, one per line (-0: NUL); - is stdin."),
        _text("--changed-since", "changed_since", "REV", "Only files that differ from REV, and new ones."),
        _text("--branch", "branch", "NAME", "Clone this branch or tag."),
        _file("--explain", "explain", "PATH", "Show which rule includes or excludes PATH, with its file and line."),
    )),
    ("Format", (
        _text("-f --format", "form", "FORM", "Output format.", default="text", choices=FORMATS),
        _flag("-l --list-only", "list_only", "Print only the paths, one per line."),
        _flag("-0 -z --null", "null", "Separate paths by NUL (with -l and --files-from)."),
        _flag("--tree", "tree", "Print only the file tree (with --tokens: and token counts)."),
        _flag("--stats", "stats", "Print only files, bytes and tokens per folder, and the largest files."),
        _flag("--with-tree", "with_tree", "Start with the file tree."),
        _flag("-n --line-numbers", "line_numbers", "Show line numbers."),
        _flag("--tokens", "tokens", "Count tokens per file."),
        _text("--encoding", "encoding", "NAME", "Count tokens in this encoding (default: o200k_base)."),
        _flag("--no-mask", "no_mask", "Do not mask secrets."),
    )),
    ("Content", (
        _number("--budget", "budget", "Fit into N tokens: less useful files as outline or name."),
        _text("--level", "levels", "PATTERN=LEVEL", "Show as full, outline or name; repeatable.", multiple=True),
        _text("--symbol", "symbols", "PATH::NAME=HOW", "Show as full, signature or hide; repeatable.", multiple=True),
        _text("--diff", "diff", "[REV]", "Start with the git diff to REV (HEAD).", kind="optional", default=None),
        _number("--log", "log", "Start with the last N commits.", default=0),
    )),
    ("Output", (
        _file("-o --output", "output", "FILE", "Write to FILE, completely or not at all."),
        _flag("--copy", "copy", "Copy to the clipboard instead of printing."),
        _flag("--watch", "watch", "With -o: write again whenever files change."),
        _file("--lock", "lock", "FILE", "Record files, hashes, levels, reasons and token counts in FILE."),
        _flag("--frozen", "frozen", "With --lock: fail if the output would differ from the lock."),
        _flag("--exit-code", "exit_code", "With `context diff LOCK`: exit 1 if anything differs."),
        _number("--max-size-mb", "max_size_mb", "Size limit in MB (JINNI_MAX_SIZE_MB, else 100).", kind="float"),
        _flag("-q --quiet", "quiet", "Print only errors to stderr."),
    )),
)
# fmt: on
OPTIONS = tuple(option for _, options in GROUPS for option in options)
LIST_OPTIONS = (_flag("--json", "as_json", "Print JSON."),)
LOG_OPTIONS = (
    _number("-n --count", "count", "Show the last N entries; -N shows the first N.", default=0),
    _flag("--all", "whole", "Show the whole history, not only the window."),
    _flag("-f --follow", "following", "Show new entries as they come, until Ctrl-C."),
    _flag("-v --verbose", "verbose", "Show tool calls and results in full."),
    _flag("--raw", "raw", "Do not render markdown."),
    _flag("--json", "as_json", "Print entries as JSON, one per line."),
)
_MAX_DIGITS = 18


def join_optional_values(args: list[str]) -> list[str]:
    """`args` with optional values attached: `--diff REV` becomes `--diff=REV`, unless a path named REV exists."""
    optional = {flag for option in OPTIONS if option.kind == "optional" for flag in option.flags}
    end = args.index("--") if "--" in args else len(args)
    out: list[str] = []
    for at, arg in enumerate(args[:end]):
        if at and args[at - 1] in optional and not arg.startswith("-") and not os.path.lexists(arg):
            out[-1] += arg
        else:
            out.append(f"{arg}=" if arg in optional else arg)
    return out + args[end:]


def parse_options(args: list[str], options: Sequence[PlainOption] = OPTIONS) -> dict[str, Any] | None:
    """The options of a simple, correct command line, and its words as `targets`; None if click has to parse it."""
    by_flag = {flag: option for option in options for flag in option.flags}
    values: dict[str, Any] = {"targets": ()}
    for option in options:
        values[option.name] = () if option.multiple else False if option.kind == "flag" else option.default
    rest = iter(join_optional_values(args))
    for arg in rest:
        if not arg.startswith("-") or arg == "-":
            values["targets"] = (*values["targets"], arg)
            continue
        flag, equals, given = arg.partition("=")
        option = by_flag.get(flag)
        if option is None or (equals and (option.kind == "flag" or not flag.startswith("--"))):
            return None
        value = given if equals else "" if option.kind == "flag" else next(rest, "--")  # as good as missing
        if not _is_plain_value(option, value, attached=bool(equals)):
            return None
        found = True if option.kind == "flag" else int(value) if option.kind == "int" else value
        values[option.name] = (*values[option.name], found) if option.multiple else found
    return values


def _is_plain_value(option: PlainOption, value: str, *, attached: bool) -> bool:
    """Whether click would accept the value unchanged; what looks like a flag is left to click."""
    if option.kind == "float" or (value.startswith("-") and not attached and value != "-"):
        return False
    if option.kind == "int":
        return value.isdecimal() and len(value) < _MAX_DIGITS
    return not option.choices or value in option.choices
