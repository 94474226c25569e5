"""Find paths by a glob: `**` for any number of folders, `{a,b}` for alternatives, the rest as in rule files."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from time import monotonic
from typing import NamedTuple, TypeAlias

from marid.core.errors import BadInput, MaridError, NotFound
from marid.core.suggestions import close_matches
from marid.text.display import quote_path
from marid.workspace.guard.api import GuardedPath, OpenFolder
from marid.workspace.rules.name_glob import parse_glob

_MAX_LENGTH = 1_000
_MAX_ALTERNATIVES = 64
_WILD = re.compile(r"[\\*?\[{]")
_BRACES = re.compile(r"\{([^{}]*)\}")

# The state of a match: pairs of an alternative and the part of it that may match next.
States: TypeAlias = frozenset[tuple[int, int]]
_Matches: TypeAlias = Callable[[str], bool]


class PathPatternPart(NamedTuple):
    """One part of a pattern; `matches` is None for `**`, any number of folders."""

    text: str
    matches: _Matches | None


class PathPattern:
    """A glob for paths below a folder.

    `names_hidden`: a part begins with a dot. `names_folders`: a folder has no wildcard. `folders_only`: `/` is last.
    """

    def __init__(self, alternatives: Iterable[tuple[PathPatternPart, ...]], *, folders_only: bool) -> None:
        self._alternatives = tuple(alternatives)
        self.folders_only = folders_only
        texts = [part.text for parts in self._alternatives for part in parts]
        self.names_hidden = any(text.startswith(".") for text in texts)
        self.names_folders = any(
            not _WILD.search(part.text) for parts in self._alternatives for part in parts[:-1] if part.matches
        )

    def start_states(self) -> States:
        """The states before the first name."""
        return frozenset(state for number in range(len(self._alternatives)) for state in self._with_skips(number, 0))

    def advance(self, states: States, name: str) -> States:
        """The states after one more name; empty if no longer path can match."""
        after: set[tuple[int, int]] = set()
        for number, at in states:
            parts = self._alternatives[number]
            if at == len(parts):
                continue
            matches = parts[at].matches
            if matches is None:
                after.add((number, at))
            elif matches(name):
                after.update(self._with_skips(number, at + 1))
        # After `**` the next part may begin as well.
        return frozenset(state for number, at in after for state in self._with_skips(number, at))

    def is_match(self, states: States) -> bool:
        """Whether a path in these states matches."""
        return any(at == len(self._alternatives[number]) for number, at in states)

    def matches(self, path: str) -> bool:
        """Whether the whole path matches."""
        states = self.start_states()
        for name in path.split("/"):
            states = self.advance(states, name)
        return self.is_match(states)

    def _with_skips(self, number: int, at: int) -> Iterator[tuple[int, int]]:
        parts = self._alternatives[number]
        yield number, at
        if at < len(parts) and parts[at].matches is None:
            yield number, at + 1


def split_literal_prefix(text: str) -> tuple[str, str]:
    """Split off the leading folders without wildcards; the rest has at least one part."""
    parts = text.split("/")
    count = next((number for number, part in enumerate(parts[:-1]) if _WILD.search(part)), len(parts) - 1)
    return "/".join(parts[:count]), "/".join(parts[count:])


def parse_path_pattern(text: str, *, anywhere: bool = False) -> PathPattern:
    """Parse a pattern; with `anywhere`, one without a slash matches in every folder. Raises: BadInput."""
    if not text.strip() or len(text) > _MAX_LENGTH or "\0" in text:
        raise _invalid_pattern(text, f"it must have 1 to {_MAX_LENGTH} characters")
    if text.startswith(("/", "~")):
        raise _invalid_pattern(text, "it must be relative")
    folders_only = text.endswith("/")
    alternatives = [_parse_parts(spelled, text) for spelled in _expand_braces(text.rstrip("/"))]
    if anywhere and "/" not in text:
        alternatives = [parts if parts[0] is _ANY_DEPTH else (_ANY_DEPTH, *parts) for parts in alternatives]
    return PathPattern(alternatives, folders_only=folders_only)


_ANY_DEPTH = PathPatternPart("**", None)


def _parse_parts(spelled: str, given: str) -> tuple[PathPatternPart, ...]:
    parts: list[PathPatternPart] = []
    for text in spelled.split("/"):
        if text in ("", "."):
            continue
        if text == "..":
            raise _invalid_pattern(given, "`..` is not allowed")
        if text != "**":
            parts.append(PathPatternPart(text, _make_matcher(text, given)))
        elif not parts or parts[-1] is not _ANY_DEPTH:
            parts.append(_ANY_DEPTH)
    if not parts:
        raise _invalid_pattern(given, "it is empty")
    if parts[-1] is _ANY_DEPTH:
        parts.append(PathPatternPart("*", bool))
    return tuple(parts)


def _make_matcher(text: str, given: str) -> _Matches:
    glob = parse_glob(text)
    if glob is None:
        raise _invalid_pattern(given, f"'{quote_path(text)}' is malformed")
    if glob.name is not None:
        return glob.name.__eq__
    if (suffix := glob.suffix) is not None:
        return lambda name: name.endswith(suffix)
    whole = re.compile(glob.regex or "", re.DOTALL).fullmatch
    return lambda name: whole(name) is not None


def _expand_braces(text: str) -> list[str]:
    """`text` with each combination of its alternatives. Raises: BadInput for too many."""
    done: list[str] = []
    todo = [text]
    while todo:
        at = todo.pop()
        innermost = _BRACES.search(at)
        if innermost is None:
            done.append(at.replace("\1", "{").replace("\2", "}"))
        else:
            choices = innermost[1].split(",")
            # Braces without a comma are literal.
            pieces = choices if len(choices) > 1 else [f"\1{choices[0]}\2"]
            todo += [at[: innermost.start()] + piece + at[innermost.end() :] for piece in pieces]
        if len(done) + len(todo) > _MAX_ALTERNATIVES:
            raise _invalid_pattern(text, f"its braces expand to more than {_MAX_ALTERNATIVES} patterns")
    return sorted(done)


def _invalid_pattern(text: str, why: str) -> BadInput:
    return BadInput(f"invalid pattern '{quote_path(text[:100])}': {why}")


class PathSearchLimits(NamedTuple):
    """The most paths to find, and the timeout in seconds."""

    max_paths: int
    timeout: float = 2.0


class FoundPaths(NamedTuple):
    """Matching paths; folders end with a slash. `has_more`: the limit was reached."""

    paths: list[str]
    has_more: bool = False
    timed_out: bool = False


def find_paths(
    folders: Iterable[OpenFolder], pattern: PathPattern, limits: PathSearchLimits, *, files_only: bool
) -> FoundPaths:
    """The paths of a walk that match, sorted."""
    deadline = monotonic() + limits.timeout
    found: list[str] = []
    for path in _iter_matches(folders, pattern, files_only=files_only):
        if path is None:
            if monotonic() > deadline:
                return FoundPaths(sorted(found), timed_out=True)
        elif len(found) == limits.max_paths:
            return FoundPaths(sorted(found), has_more=True)
        else:
            found.append(path)
    return FoundPaths(sorted(found))


def _iter_matches(folders: Iterable[OpenFolder], pattern: PathPattern, *, files_only: bool) -> Iterator[str | None]:
    """Each matching path, and None before each folder, to check the time."""
    states = {"": pattern.start_states()}
    for folder in folders:
        yield None
        here = states.pop(folder.path, None)
        if not here:
            continue
        prefix = f"{folder.path}/" if folder.path else ""
        if not pattern.folders_only:
            for name in folder.names:
                if pattern.is_match(pattern.advance(here, name)):
                    yield prefix + name
        for name in folder.folders:
            below = pattern.advance(here, name)
            states[prefix + name] = below
            if not files_only and pattern.is_match(below):
                yield f"{prefix}{name}/"


def not_found_error(path: GuardedPath, given: str) -> NotFound:
    """The error for a missing path, with similar names in its folder."""
    folder, name = os.path.split(path.name)
    try:
        names = [entry.name for entry in replace(path, name=folder or ".").entries()]
    except MaridError:
        return NotFound(f"{quote_path(given)}: not found, and neither is its folder")
    near = closest_names(name, names)
    hint = f"; similar: {', '.join(near)}" if near else ""
    return NotFound(f"{quote_path(given)}: not found{hint}")


def closest_names(name: str, names: list[str]) -> list[str]:
    """Up to three of `names` that look like `name`, as they may be shown."""
    lower = {other.lower(): other for other in names}
    return [quote_path(lower[other]) for other in close_matches(name.lower(), lower, 3)]
