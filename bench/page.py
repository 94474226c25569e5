"""docs/comparison.md, where the figures of the last runs stand, and the results that they are taken from."""

import json
import sys
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "comparison.md"
RESULTS = Path(__file__).parent / "results"


def newest(kind: str) -> dict[str, Any] | None:
    """The last run of that kind; None before the first, which is told."""
    found = max(RESULTS.glob(f"{kind}-*.json"), default=None)
    if found is None:
        print(f"there is no run yet: python -m bench.{kind}", file=sys.stderr)
        return None
    return json.loads(found.read_text())


def put(mark: str, words: str) -> None:
    """Put words into the page, in the place of the last ones."""
    PAGE.write_text(written_into(PAGE.read_text("utf-8"), mark, words), "utf-8")


def written_into(page: str, mark: str, words: str) -> str:
    """The page with the part of that mark replaced. Raises: ValueError when it has no place for it."""
    start, end = f"<!-- {mark}:start -->", f"<!-- {mark}:end -->"
    before, found, rest = page.partition(start)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise ValueError(f"the page lacks {start} or {end}")
    return f"{before}{start}\n{words}\n{end}{after}"
