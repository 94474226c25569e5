"""The architecture page names only what exists, and keeps its tables short enough to read."""

import importlib
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
PACKAGES = sorted(path.name for path in (ROOT / "src" / "marid").iterdir() if (path / "__init__.py").exists())


def _rows(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def _exists(name: str) -> bool:
    module, attributes = f"marid.{name}", list[str]()
    while True:
        try:
            found = importlib.import_module(module)
            break
        except ModuleNotFoundError:
            module, _, attribute = module.rpartition(".")
            attributes.insert(0, attribute)
    for attribute in attributes:
        if not hasattr(found, attribute):
            return False
        found = getattr(found, attribute)
    return True


def test_every_module_that_the_page_names_exists() -> None:
    names = re.findall(rf"`((?:{'|'.join(PACKAGES)})(?:\.\w+)+)`", PAGE)
    assert len(names) > 60
    assert [name for name in names if not _exists(name)] == []


def test_the_table_of_changes_leads_to_places_in_the_source() -> None:
    rows = _rows("Where to look")
    assert 30 <= len(rows) <= 45
    assert [row for row in rows if not re.fullmatch(rf"(`(?:{'|'.join(PACKAGES)})[.\w]*`(, )?)+", row[1])] == []


def test_the_glossary_has_at_most_25_words() -> None:
    assert 15 <= len(_rows("Words")) <= 25
