"""Which rule includes or excludes a path, with its file and line."""

import os
from typing import NamedTuple

from marid.core.errors import BadInput, NotFound
from marid.text.display import escape_text, quote_path
from marid.workspace.rules.parse import DEFAULT
from marid.workspace.rules.rule_stack import Decision
from marid.workspace.walk import Walker


class Explanation(NamedTuple):
    """Whether `path` is included, and the decision; `folder` is set if it was made on a folder above."""

    path: str
    include: bool
    folder: str
    decision: Decision

    def __str__(self) -> str:
        verdict = "included" if self.include else "excluded"
        folder = f" (on '{quote_path(self.folder)}')" if self.folder else ""
        return f"{quote_path(self.path)}: {verdict} {describe_decision(self.decision)}{folder}"


def explain(walker: Walker, path: str, start: str = "") -> Explanation:
    """Apply the rules to `path`, relative to the walker's top, starting from the folder `start` that the user named.

    Raises: NotFound; BadInput for a link or a special file, which are never read.
    """
    parts = path.split("/")
    above = ["/".join(parts[:depth]) for depth in range(len(parts))]
    kinds = [_is_folder(os.path.join(walker.top, at), last=at == path, shown=path) for at in (*above[1:], path)]
    stack = walker.start_stack(start)
    decision = stack.fallback
    decided = ""
    named = len(start.split("/")) if start else 0
    for folder, name, is_folder in [*zip(above, parts, kinds, strict=True)][named:]:
        stack = walker.enter_folder(stack, folder)
        decision = stack.judge(name, folder=is_folder)
        if decision is not stack.fallback:
            decided = f"{folder}/{name}" if folder else name
        stack = stack.below(name, decision)
        if not stack.is_open:
            break
    return Explanation(path, decision.include, decided if decided != path and decision.rule else "", decision)


def _is_folder(full: str, *, last: bool, shown: str) -> bool:
    if os.path.islink(full):
        raise BadInput(f"{quote_path(shown)}: symbolic links are not followed")
    if os.path.isdir(full):
        return True
    if not last or not os.path.lexists(full):
        raise NotFound(f"{quote_path(shown)}: not found")
    if not os.path.isfile(full):
        raise BadInput(f"{quote_path(shown)}: not a regular file")
    return False


def describe_decision(decision: Decision) -> str:
    """The rule behind a decision, as text."""
    if decision.rule is None or decision.source is None:
        return "because no rule matches it"
    if decision.rank == DEFAULT:
        return f"by the built-in default '{decision.rule.text}'"
    origin = quote_path(decision.source.origin)
    return f"by '{escape_text(decision.rule.text)}', {origin}:{decision.rule.line}"
