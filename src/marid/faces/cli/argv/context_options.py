"""The options of `marid context`, once: the quick parser, the click command, help and completion are made of them.

Importing click costs more than packing a small project, so a command line that is plainly right never gets there;
whatever is not goes to click for its errors, help and completion.
"""

import os
from typing import Any, NamedTuple

FORMATS = ("text", "markdown", "xml", "json")


class ContextOption(NamedTuple):
    """One option. `kind` is flag, text, int, float or optional (a text that may be left out)."""

    flags: tuple[str, ...]
    name: str
    help: str
    kind: str = "flag"
    metavar: str = ""
    default: Any = None
    multiple: bool = False
    choices: tuple[str, ...] = ()
    file: bool = False


def _flag(flags: str, name: str, meaning: str) -> ContextOption:
    return ContextOption(tuple(flags.split()), name, meaning)


def _text(flags: str, name: str, metavar: str, meaning: str, **more: Any) -> ContextOption:
    settings: dict[str, Any] = {"kind": "text", "metavar": metavar, "default": "", **more}
    return ContextOption(tuple(flags.split()), name, meaning, **settings)


def _file(flags: str, name: str, metavar: str, meaning: str) -> ContextOption:
    return _text(flags, name, metavar, meaning, file=True)


def _number(flags: str, name: str, meaning: str, **more: Any) -> ContextOption:
    return _text(flags, name, "N", meaning, **{"kind": "int", "default": None, **more})


GROUPS = (
    (
        "Which files",
        (
            _text("-r --rule", "rules", "RULE", "PATTERN includes, !PATTERN excludes. Repeatable.", multiple=True),
            _file("--config", "config", "FILE", "A file with rules, weaker than .contextfiles."),
            _flag("--no-gitignore", "no_gitignore", "Do not read .gitignore, .ignore and git's exclude files."),
            _flag("--no-defaults", "no_defaults", "Do not apply the built-in exclusions."),
            _file("--files-from", "files_from", "FILE", "More targets, one a line (-0: NUL-separated); - is stdin."),
            _text("--changed-since", "changed_since", "REV", "Only files that differ from REV, new ones included."),
            _text("--branch", "branch", "NAME", "Which branch or tag of a repository to clone."),
            _file("--explain", "explain", "PATH", "Say which rule of which file at which line decides about PATH."),
        ),
    ),
    (
        "In which form",
        (
            _text("-f --format", "form", "FORM", "How the files are written.", default="text", choices=FORMATS),
            _flag("-l --list-only", "list_only", "Only the paths, one a line."),
            _flag("-0 -z --null", "null", "Separate paths by NUL, in --list-only and --files-from."),
            _flag("--tree", "tree", "Only the tree of files (with --tokens: and their tokens)."),
            _flag("--stats", "stats", "Only counts: files, bytes, tokens per folder, largest files."),
            _flag("--with-tree", "with_tree", "Put the tree before the files."),
            _flag("-n --line-numbers", "line_numbers", "Number the lines."),
            _flag("--tokens", "tokens", "Count tokens per file."),
            _text("--encoding", "encoding", "NAME", "Count tokens in this encoding (o200k_base)."),
            _flag("--no-mask", "no_mask", "Leave keys and tokens in the output."),
        ),
    ),
    (
        "How much of them",
        (
            _number("--budget", "budget", "Fit into N tokens: full, outline or name per file, the most useful first."),
            _text("--level", "levels", "PATTERN=LEVEL", "Show such files as full, outline or name.", multiple=True),
            _text("--symbol", "symbols", "PATH::NAME=HOW", "A symbol as full, signature or hide.", multiple=True),
            _text("--diff", "diff", "[REV]", "Put the git diff to REV (HEAD) first.", kind="optional", default=None),
            _number("--log", "log", "Put the last N commits before the files.", default=0),
        ),
    ),
    (
        "Where to",
        (
            _file("-o --output", "output", "FILE", "Write to FILE, whole or not at all."),
            _flag("--copy", "copy", "Copy to the clipboard instead of printing."),
            _flag("--watch", "watch", "With --output: write it again whenever files change."),
            _file("--lock", "lock", "FILE", "Record every file, hash, level, reason and token count in FILE."),
            _flag("--frozen", "frozen", "With --lock: fail if the pack would differ from the lock."),
            _flag("--exit-code", "exit_code", "With `context diff LOCK`: exit 1 when something differs."),
            _number("--max-size-mb", "max_size_mb", "Most megabytes (100, or JINNI_MAX_SIZE_MB).", kind="float"),
            _flag("-q --quiet", "quiet", "Say nothing on stderr but errors."),
        ),
    ),
)
OPTIONS = tuple(option for _, options in GROUPS for option in options)


def defaults() -> dict[str, Any]:
    """Every option at its default, and no targets."""
    values: dict[str, Any] = {"targets": ()}
    for option in OPTIONS:
        values[option.name] = () if option.multiple else False if option.kind == "flag" else option.default
    return values


def join_optional_values(args: list[str]) -> list[str]:
    """`args` with an optional value tied to its option: `--diff REV` is `--diff=REV`, unless such a path exists.

    Without this the word behind `--diff` would be read as a revision or as a target by chance.
    """
    optional = {flag for option in OPTIONS if option.kind == "optional" for flag in option.flags}
    end = args.index("--") if "--" in args else len(args)
    out: list[str] = []
    for at, arg in enumerate(args[:end]):
        if at and args[at - 1] in optional and not arg.startswith("-") and not os.path.lexists(arg):
            out[-1] += arg
        else:
            out.append(f"{arg}=" if arg in optional else arg)
    return out + args[end:]


def parse_options(args: list[str]) -> dict[str, Any] | None:
    """The options of a plainly right command line; None when click has to look at it."""
    args = join_optional_values(args)
    by_flag = {flag: option for option in OPTIONS for flag in option.flags}
    values = defaults()
    rest = iter(args)
    for arg in rest:
        if not arg.startswith("-") or arg == "-":
            values["targets"] = (*values["targets"], arg)
            continue
        flag, equals, given = arg.partition("=")
        option = by_flag.get(flag)
        if option is None or (equals and (option.kind == "flag" or not flag.startswith("--"))):
            return None
        value: Any = given if equals else True if option.kind == "flag" else next(rest, None)
        if not _is_plain_value(option, value, written=bool(equals)):
            return None
        _store(values, option, value)
    return values


def _is_plain_value(option: ContextOption, value: object, *, written: bool) -> bool:
    """Whether click would take the value as it stands; numbers, and anything that looks like a flag, are left to it."""
    if option.kind in ("int", "float") or value is None:
        return False
    if isinstance(value, str) and value.startswith("-") and not written and value != "-":
        return False
    return not option.choices or value in option.choices


def _store(values: dict[str, Any], option: ContextOption, value: object) -> None:
    values[option.name] = (*values[option.name], value) if option.multiple else value
