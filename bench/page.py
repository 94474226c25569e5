"""docs/comparison.md with the figures of the last runs, and the results that they come from."""

import json
import sys
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "comparison.md"
RESULTS = Path(__file__).parent / "results"


def newest(kind: str) -> dict[str, Any] | None:
    """The last run of that kind; prints a note and returns None before the first."""
    found = max(RESULTS.glob(f"{kind}-*.json"), default=None)
    if found is None:
        print(f"there is no run yet; run `python -m bench.{kind}`", file=sys.stderr)
        return None
    return json.loads(found.read_text())


def write(mark: str, text: str) -> None:
    """Replace the part of the page that has this mark."""
    PAGE.write_text(replace_part(PAGE.read_text("utf-8"), mark, text), "utf-8")


def replace_part(page: str, mark: str, text: str) -> str:
    """The page with the part of that mark replaced. Raises: ValueError when it has no such part."""
    start, end = f"<!-- {mark}:start -->", f"<!-- {mark}:end -->"
    before, found, rest = page.partition(start)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise ValueError(f"the page lacks {start} or {end}")
    return f"{before}{start}\n{text}\n{end}{after}"
