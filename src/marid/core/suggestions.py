"""What a wrong name may have meant, in one wording for every message."""

from collections.abc import Iterable

_MAX_WORD = 100


# A letter or two more, less or exchanged; what merely resembles a word is a wrong guess.
_MIN_SIMILARITY = 0.65


def close_matches(word: str, known: Iterable[str], count: int = 1, cutoff: float = _MIN_SIMILARITY) -> list[str]:
    """Up to `count` of the known words of which this one is a misspelling, the closest first.

    Dashes at the start do not count: all flags have them.
    """
    import difflib  # imported when used: only a mistake needs it

    bare = {one.lstrip("-"): one for one in known}
    return [bare[one] for one in difflib.get_close_matches(word[:_MAX_WORD].lstrip("-"), bare, count, cutoff)]


def did_you_mean(matches: Iterable[str]) -> str:
    """The end of an error message that offers the matches; empty if there are none."""
    quoted = [f"'{match}'" for match in matches]
    return f"; did you mean {' or '.join(quoted)}?" if quoted else ""
