"""The names of things: one class a name, functions that say what they do, and plain words everywhere."""

import ast
import re
from collections import defaultdict

from arch.source import MODULES, ROOT, functions, parse, read, short_name

# Public classes that may share a name. At most ten.
SHARED: frozenset[str] = frozenset()

# Past participles that do not end in -ed. Verbs whose participle looks like the verb (set, put, cut) are left out.
IRREGULAR = """
    begun bound broken brought built caught chosen done drawn driven eaten felt forbidden forgotten found frozen given
    gone grown heard held hidden hung kept known laid led left lost made meant met paid risen said seen sent shown
    spent spoken stolen struck stuck swept taken taught thought told torn woken won worn written
"""
ADJECTIVES = frozenset({"red", "speed", "seed", "feed", "need", "embed", "exceed", "proceed", "succeed"})
# Public names of marid.testing that docs/testing.md shows.
DOCUMENTED = frozenset({"said"})

# Phrases that may not come back: (pattern, what to write instead).
PHRASES = (
    (r"\bnobody\b", "name who, or use the passive"),
    (r"\bsomebody\b", "name who"),
    (r"\bwhoever\b", "the caller, the lock holder, the reader"),
    (r"\banew\b", "again"),
    (r"\bis told\b|\bare told\b|\bwas told\b", "report, notify, print"),
    (r"\bhas the word\b|\bgives? the word\b", "whose turn it is"),
    (r"\bmean this one\b", "switch to this conversation"),
    (r"\bnobody's business\b", "say what it is"),
    (r"\bmay not be used\b|\bis kept from every tool\b", "permission denied; protected"),
    (r"\bis no effect\b|\bthe end of none of\b", "unknown effect; unknown file type"),
    (r"\bthe same of another\b|\blet this one\b", "name the conversation"),
    (r"\bwhat you are called\b|\bare said\b", "your name; sent to the model"),
    (r"\bnear it:|\bmake it simpler\b|\bmoved about\b", "did you mean; use a simpler one; busy"),
    (r"\bmoments as people\b|\btells? so\b", "say the thing"),
)
PROSE = [*MODULES, *sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "Makefile", ROOT / "SECURITY.md"]


def test_two_public_classes_do_not_share_a_name() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in MODULES:
        for node in parse(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(short_name(path))
    assert {name: found for name, found in places.items() if len(found) > 1 and name not in SHARED} == {}
    assert len(SHARED) <= 10


def test_a_function_is_named_by_a_verb_or_by_what_it_returns() -> None:
    """Not by a bare past participle: it hides whether something is computed, done or checked."""
    bare = [
        f"{short_name(path)}:{function.name}"
        for path in MODULES
        for function in functions(path)
        if "_" not in (name := function.name.strip("_"))
        and (name.endswith("ed") or name in IRREGULAR.split())
        and name not in ADJECTIVES | DOCUMENTED
    ]
    assert bare == []


def test_phrases_that_read_as_translated_do_not_come_back() -> None:
    patterns = [(re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in PHRASES]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]} (instead: {instead})"
        for path in PROSE
        for number, line in enumerate(read(path).splitlines(), 1)
        for pattern, instead in patterns
        if pattern.search(line)
    ]
    assert found == []
