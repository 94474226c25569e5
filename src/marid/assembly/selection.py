"""Select the files of a request: walk its targets by its rules, and check their size before the first byte."""

import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from marid.core.context import FileSelection
from marid.core.errors import BadInput, Exhausted, NotFound
from marid.core.events import Emit, FileProblem
from marid.text.display import human_size, quote_path
from marid.workspace.explain import describe_decision, explain
from marid.workspace.read import FileSize, measure_files
from marid.workspace.rules.ignore_files import UserGitFiles, read_user_text
from marid.workspace.rules.parse import INLINE, PathRule, parse_contextfile, parse_inline
from marid.workspace.rules.rule_stack import PathMatcher
from marid.workspace.walk import USER_ACCESS, Folder, FolderAccess, SelectionRules, Walker

_MEGABYTE = 1 << 20
_LARGEST_LISTED = 10


class Selection(NamedTuple):
    """The selected files below `top`. The user named the files `named_paths` and the folders `roots`."""

    top: str
    folders: list[Folder]
    named_paths: frozenset[str]
    walker: Walker
    roots: tuple[str, ...] = ("",)
    only: PathMatcher | None = None

    def file_count(self) -> int:
        """The number of files."""
        return sum(len(folder.names) for folder in self.folders)

    def paths(self) -> Iterable[str]:
        """Every selected path."""
        return iter_paths(self.folders)

    def measure(self) -> Iterator[FileSize]:
        """Every selected file with its size."""
        return measure_files(self.top, self.folders, self.walker.access)

    def reason(self, path: str) -> str:
        """Why a file is selected, if the selection has reasons."""
        if path in self.named_paths:
            return "named"
        decision = (self.walker.reasons or {}).get(path)
        return describe_decision(decision) if decision else ""

    def matching(self, only: PathMatcher) -> "Selection":
        """Only the files that `only` matches, now and where a deleted file is judged."""
        kept = [Folder(path, only.matching_names(path, names)) for path, names in self.folders]
        return self._replace(folders=[folder for folder in kept if folder.names], only=only)

    def restrict_to(self, paths: Collection[str]) -> "Selection":
        """Only the files in `paths`."""
        return self._replace(folders=_group_by_folder(path for path in iter_paths(self.folders) if path in paths))

    def exclude_path(self, path: str) -> "Selection":
        """Without the file at the absolute `path`."""
        place = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        prefix = self.top.rstrip("/") + "/"
        if not place.startswith(prefix):
            return self
        folder, _, name = place[len(prefix) :].rpartition("/")
        kept = [Folder(f.path, [n for n in f.names if n != name]) if f.path == folder else f for f in self.folders]
        return self._replace(folders=[f for f in kept if f.names])


class Targets(NamedTuple):
    """The targets below their common folder `top`, as folders and files."""

    top: str
    folders: tuple[str, ...]
    files: tuple[str, ...]


def resolve_targets(targets: Iterable[str], cwd: str, base: str = "") -> Targets:
    """Resolve the targets and the folder that paths are relative to: `base`, or their common folder.

    Raises: NotFound, BadInput for a target that is not a file or folder.
    """
    found = {_resolve_target(target, cwd): target for target in targets}
    folders = {path for path in found if os.path.isdir(path)}
    files = found.keys() - folders
    tops = [*folders, *(os.path.dirname(path) for path in files)]
    if not tops:
        raise BadInput("no target: name a file or folder")
    top = os.path.commonpath([*tops, _resolve_target(base, cwd)] if base else tops)
    prefix = len(top.rstrip("/")) + 1
    return Targets(top, *(tuple(sorted(path[prefix:] for path in paths)) for paths in (folders, files)))


def make_selection_rules(
    wanted: FileSelection, cwd: str, user: UserGitFiles, extra: tuple[str, ...] = ()
) -> SelectionRules:
    """The rules of a request; `extra` are rules of the project's settings, as strong as `--config`."""
    config: tuple[PathRule, ...] = ()
    if wanted.config:
        text = read_user_text(os.path.join(cwd, wanted.config))
        if text is None:
            raise NotFound(f"{wanted.config}: rule file not found or not readable")
        config = parse_contextfile(text)
    return SelectionRules(
        inline=parse_inline(wanted.rules),
        config=config + parse_inline(extra),
        config_origin=wanted.config or "settings",
        ignores=wanted.gitignore,
        defaults=wanted.defaults,
        user_git_files=user,
        only=_parse_only(wanted.only),
    )


def _parse_only(patterns: tuple[str, ...]) -> tuple[PathRule, ...]:
    if wrong := next((one for one in patterns if one.lstrip().startswith("!")), None):
        raise BadInput(f"--only '{wrong}': a pattern here says what to keep; use --rule '{wrong}' to exclude files")
    rules = parse_inline(patterns)
    if patterns and not rules:
        raise BadInput(f"--only '{patterns[0]}' is not a pattern")
    return rules


def select_files(
    targets: Targets, rules: SelectionRules, emit: Emit, access: FolderAccess = USER_ACCESS, *, reasons: bool = False
) -> Selection:
    """Walk the targets, opening only folders and rule files; `reasons` keeps the decision on each file."""

    def on_problem(path: str, reason: str) -> None:
        emit(FileProblem(path=quote_path(path), reason=reason))

    walker = Walker(targets.top, rules, on_problem, {} if reasons else None, access)
    if targets.folders == ("",) and not targets.files:
        found = Selection(targets.top, list(walker.walk()), frozenset(), walker)
    else:
        paths = {path for target in targets.folders for path in iter_paths(walker.walk(target))}
        named = admit_named_files(targets, rules)
        found = Selection(targets.top, _group_by_folder(paths | named), named, walker, targets.folders)
    return found.matching(PathMatcher(rules.only)) if rules.only else found


def check_size(selection: Selection, max_bytes: int) -> None:
    """Raises: Exhausted if the selected files are larger than `max_bytes`; the error lists the largest."""
    total = sum(measured.size for measured in selection.measure())
    if total > max_bytes:
        largest = sorted(selection.measure(), key=lambda one: -one.size)[:_LARGEST_LISTED]
        rows = [(human_size(one.size), quote_path(one.path), exclusion_rule(one.path)) for one in largest]
        width = max((len(path) for _, path, _ in rows), default=0)
        lines = [
            f"Total content size exceeds limit of {max_bytes / _MEGABYTE:g}MB: "
            f"{human_size(total)} in {selection.file_count():,} files.",
            "The largest files, each with a rule that excludes it:",
            *(f"  {size:>9}  {path:<{width}}  --rule {_shell_quote(rule)}" for size, path, rule in rows),
            "Raise the limit with --max-size-mb N (or JINNI_MAX_SIZE_MB), or list all files with --list-only.",
        ]
        raise Exhausted("\n".join(lines))


def exclusion_rule(path: str) -> str:
    """A rule that excludes exactly this file."""
    escaped = re.sub(r"([\\*?\[])", r"\\\1", path)
    # A trailing blank is stripped from a rule, unless it is in a class.
    return "!/" + (f"{escaped[:-1]}[{escaped[-1]}]" if escaped[-1].isspace() else escaped)


def _shell_quote(rule: str) -> str:
    """Quote for a shell; unprintable characters need `$'...'` of bash and zsh."""
    if rule.isprintable():
        return "'" + rule.replace("'", "'\\''") + "'"
    plain = (chr(byte) if 32 <= byte < 127 and byte not in b"'\\" else f"\\{byte:03o}" for byte in os.fsencode(rule))
    return f"$'{''.join(plain)}'"


def make_admission_check(selection: Selection) -> Callable[[str], bool]:
    """A test whether a path is selected, or, for a deleted file, would be."""
    known = frozenset(selection.paths())

    def is_admitted(path: str) -> bool:
        if path in known or os.path.lexists(os.path.join(selection.top, path)):
            return path in known
        if selection.only is not None and selection.only.last_match(path) < 0:
            return False
        inside = [root for root in selection.roots if not root or path.startswith(f"{root}/")]
        return any(_would_select(selection.walker, root, path) for root in inside)

    return is_admitted


def _would_select(walker: Walker, root: str, path: str) -> bool:
    """Whether a walk of `root` would select a file at `path`."""
    stack, folder = walker.start_stack(root), root
    *folders, name = path[len(root) + bool(root) :].split("/")
    for step in folders:
        stack = walker.enter_folder(stack, folder)
        stack = stack.below(step, stack.judge(step, folder=True))
        if not stack.is_open:
            return False
        folder = f"{folder}/{step}" if folder else step
    return walker.enter_folder(stack, folder).judge(name, folder=False).include


def admit_named_files(targets: Targets, rules: SelectionRules) -> frozenset[str]:
    """The files that the user named, except those that a `--rule` excludes."""
    own = Walker(targets.top, SelectionRules(inline=rules.inline, ignores=False, defaults=False))
    explained = {path: explain(own, path) if rules.inline else None for path in targets.files}
    return frozenset(path for path, it in explained.items() if not it or it.include or it.decision.rank != INLINE)


def _resolve_target(target: str, cwd: str) -> str:
    if "\0" in target:
        raise BadInput("a path cannot contain a NUL")
    try:
        path = os.path.realpath(os.path.join(cwd, target))
        mode = os.stat(path).st_mode
    except PermissionError as error:
        raise BadInput(f"{quote_path(target)}: permission denied") from error
    except OSError as error:
        raise NotFound(f"{quote_path(target)}: not found") from error
    if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
        raise BadInput(f"{quote_path(target)}: not a file or folder")
    return path


def iter_paths(folders: Iterable[Folder]) -> Iterable[str]:
    """Every path of some folders."""
    return (f"{folder.path}/{name}" if folder.path else name for folder in folders for name in folder.names)


def _group_by_folder(paths: Iterable[str]) -> list[Folder]:
    """Folders in the order of a walk: sorted, each before its sub-folders."""
    names: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        names.setdefault(folder, []).append(name)
    ordered = sorted(names, key=lambda folder: folder.split("/") if folder else [])
    return [Folder(folder, sorted(names[folder])) for folder in ordered]
