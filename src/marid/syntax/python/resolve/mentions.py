"""Which files may name a class where it counts, told without parsing them."""

import re
from collections.abc import Iterator, Mapping, Set

# Looking for a few words one by one is faster than reading all words.
_FEW_NAMES = 4
_WORDS = re.compile(rb"[\w\x80-\xff]+")
# Heads of classes, imports and plain other names: more than these may be found, never less.
_NAMING_STATEMENTS = re.compile(
    rb"^[ \t]*+(?:class\b[^:]*+|(?:from|import)\b(?:[^(\\\n]*+\([^)]*+|(?:[^\\\n]|\\\r?\n|\\.)*+)"
    rb"|[\w\x80-\xff]++[ \t]*+=[ \t]*+[\w.\x80-\xff]++[ \t]*+\r?$)",
    re.MULTILINE,
)


class MentionIndex:
    """The files of a tree, of which each is told once."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._remaining = {path: data for path, data in files.items() if b"class" in data or b"import" in data}
        self._words: dict[str, frozenset[bytes]] = {}

    def take_matching(self, names: Set[str]) -> list[str]:
        """The files not yet told that may define a class of these names, derive from one or hand one on."""
        wanted = frozenset(name.encode() for name in names)
        found = list(self._match_few(wanted) if len(wanted) <= _FEW_NAMES else self._match_many(wanted))
        for path in found:
            del self._remaining[path]
        return found

    def _match_few(self, wanted: frozenset[bytes]) -> Iterator[str]:
        for path, data in self._remaining.items():
            if any(word in data for word in wanted) and not wanted.isdisjoint(self._mentioned_words(path, data)):
                yield path

    def _match_many(self, wanted: frozenset[bytes]) -> Iterator[str]:
        return (
            path for path, data in self._remaining.items() if not wanted.isdisjoint(self._mentioned_words(path, data))
        )

    def _mentioned_words(self, path: str, data: bytes) -> frozenset[bytes]:
        if path not in self._words:
            self._words[path] = frozenset(_WORDS.findall(b" ".join(_NAMING_STATEMENTS.findall(data))))
        return self._words[path]
