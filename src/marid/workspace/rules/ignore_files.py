"""Read rule files: `.contextfiles`, `.ignore`, `.gitignore`, and git's `info/exclude` and `core.excludesFile`."""

import os
from collections.abc import Iterator
from typing import NamedTuple

from marid.workspace.dirfd_walk import OPEN_FILE_FLAGS, read_regular
from marid.workspace.rules.parse import IGNORE, MAX_RULE_BYTES, NEAR, decode_rules, parse_contextfile, parse_gitignore
from marid.workspace.rules.rule_stack import RuleSource

CONTEXT_FILE = ".contextfiles"
# In a folder the first is stronger, as in ripgrep.
IGNORE_FILES = (".ignore", ".gitignore")
_MAX_INCLUDE_DEPTH = 5
_ESCAPES = {"t": "\t", "n": "\n", "b": "\b"}


class IgnoreRepository(NamedTuple):
    """The parts of a git repository that matter for ignore rules."""

    top: str
    exclude: str
    excludes_file: str
    ignore_case: bool


class UserGitFiles(NamedTuple):
    """The git configuration files of the user and the machine, strongest last, and the default excludes file."""

    configs: tuple[str, ...] = ()
    excludes: str = ""
    home: str = ""


def read_rule_file(name: str, folder: int | None, flags: int = OPEN_FILE_FLAGS) -> str | None:
    """The text of a rule file in an open folder; None if it is not a readable regular file."""
    try:
        data = read_regular(name, folder, MAX_RULE_BYTES, flags=flags)
    except (OSError, ValueError):
        return None
    return None if data is None else decode_rules(data)


def read_user_text(path: str) -> str | None:
    """The text of a file of the user, links followed; None if it is not a readable regular file."""
    return read_rule_file(path, None, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)


def context_sources(names: list[str], folder: int, shown: str) -> list[RuleSource]:
    """The context rules among `names` of an open folder, which messages call `shown`."""
    if CONTEXT_FILE not in names or (text := read_rule_file(CONTEXT_FILE, folder)) is None:
        return []
    return [RuleSource(parse_contextfile(text), rank=NEAR, origin=_join_path(shown, CONTEXT_FILE))]


def ignore_sources(names: list[str], folder: int, shown: str, *, fold: bool = False) -> list[RuleSource]:
    """The ignore rules among `names` of an open folder, which messages call `shown`."""
    return [
        RuleSource(parse_gitignore(text), rank=IGNORE, origin=_join_path(shown, name), ignore_case=fold)
        for name in IGNORE_FILES
        if name in names and (text := read_rule_file(name, folder)) is not None
    ]


def repository_sources(repository: IgnoreRepository) -> list[RuleSource]:
    """The rules of a repository outside of its folders, strongest first.

    A repository that ignores case has at least one source, from which the `.gitignore` files below inherit that.
    """
    texts = {path: read_user_text(path) for path in (repository.exclude, repository.excludes_file) if path}
    return [
        RuleSource(parse_gitignore(text or ""), rank=IGNORE, origin=path, ignore_case=repository.ignore_case)
        for path, text in texts.items()
        if text is not None or repository.ignore_case
    ]


def find_repository(folder: str, user: UserGitFiles) -> IgnoreRepository | None:
    """The repository whose work tree contains `folder` (absolute)."""
    while (found := repository_at(folder, user)) is None:
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return None
    return found


def repository_at(top: str, user: UserGitFiles) -> IgnoreRepository | None:
    """The repository whose work tree starts at `top`."""
    git = os.path.join(top, ".git")
    if os.path.isdir(git):
        home = git
    elif os.path.isfile(git):  # a worktree or submodule: the file has the path
        text = read_user_text(git) or ""
        if not text.startswith("gitdir:"):
            return None
        home = os.path.join(top, text[7:].strip())
    else:
        return None
    shared = (read_user_text(os.path.join(home, "commondir")) or "").strip()
    shared = os.path.join(home, shared) if shared else home
    if not os.path.isfile(os.path.join(shared, "config")) and not os.path.isfile(os.path.join(home, "HEAD")):
        return None
    settings: dict[str, str] = {}
    for path in (*user.configs, os.path.join(shared, "config")):
        settings.update(_git_settings(path, user.home))
    excludes = settings.get("core.excludesfile", user.excludes)
    return IgnoreRepository(
        top=top,
        exclude=os.path.join(shared, "info", "exclude"),
        excludes_file=_expand_path(excludes, user.home, os.path.dirname(git)) if excludes else "",
        ignore_case=settings.get("core.ignorecase", "false").lower() in ("true", "yes", "on", "1"),
    )


def _git_settings(path: str, home: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """`core.*` of a git configuration file, with `include.path` but without conditional includes."""
    text = read_user_text(path)
    if text is None or depth > _MAX_INCLUDE_DEPTH:
        return
    section = ""
    for raw in text.split("\n"):
        line = raw.strip()
        if line.startswith("["):
            section = line[1:].partition("]")[0].strip().lower()
            line = line.partition("]")[2].strip()
        if not line or line[0] in "#;":
            continue
        key, equals, value = line.partition("=")
        value = _unquote_value(value.strip()) if equals else "true"
        if section == "include" and key.strip().lower() == "path":
            yield from _git_settings(_expand_path(value, home, os.path.dirname(path)), home, depth + 1)
        elif section == "core":
            yield f"core.{key.strip().lower()}", value


def _unquote_value(raw: str) -> str:
    """A value as git reads it: with escapes, and quotes around blanks and comment characters."""
    value = ""
    quoted = False
    kept = 0
    chars = iter(raw)
    for char in chars:
        if char == '"':
            quoted = not quoted
        elif char in "#;" and not quoted:
            break
        else:
            value += _ESCAPES.get(escaped := next(chars, ""), escaped) if char == "\\" else char
            kept = len(value) if quoted else kept
    return value[:kept] + value[kept:].rstrip()


def _expand_path(path: str, home: str, folder: str) -> str:
    return os.path.join(home, path[2:]) if path.startswith("~/") else os.path.join(folder, path)


def _join_path(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
