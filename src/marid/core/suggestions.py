"""What a wrong name may have meant, in one wording for every message."""

from collections.abc import Iterable

_MAX_WORD = 100


def close_matches(word: str, known: Iterable[str], count: int = 1, cutoff: float = 0.6) -> list[str]:
    """Up to `count` of the known words that are spelled much like this one, the closest first."""
    import difflib  # imported when used: only a mistake needs it

    return difflib.get_close_matches(word[:_MAX_WORD], list(known), count, cutoff)


def did_you_mean(matches: Iterable[str]) -> str:
    """The end of an error message that offers the matches; empty if there are none."""
    quoted = [f"'{match}'" for match in matches]
    return f"; did you mean {' or '.join(quoted)}?" if quoted else ""
