"""What each language's table finds in a file of that language."""

import os
from pathlib import Path

import pytest

from marid.syntax.languages import LANGUAGES
from marid.syntax.treesitter.definitions import definitions
from marid.syntax.treesitter.grammars import parser_for
from marid.syntax.treesitter.language_tables import LANGUAGE_TABLES

GOLDEN = Path(__file__).parents[3] / "golden" / "definitions"


def describe(source: str, language: str) -> list[str]:
    """Each definition as `kind name first-last`."""
    found = definitions(source.encode(), language)
    return [f"{each.kind} {each.name} {each.start}-{each.end}" for each in found]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_node_type_in_a_table_is_in_the_grammar(language: str) -> None:
    grammar = parser_for(language).language
    assert grammar is not None
    known = {grammar.node_kind_for_id(number) for number in range(grammar.node_kind_count)} | {"ERROR"}
    named = LANGUAGE_TABLES[language]
    assert {*named.roles, *named.decorator_types} <= known


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_file_of_every_language_is_read_as_recorded(language: str) -> None:
    """A file of each language, in all the forms that its table knows; tsx is read as typescript is."""
    source, recorded = (GOLDEN / f"{language.replace('tsx', 'typescript')}{end}" for end in (".source", ".definitions"))
    found = "".join(f"{line}\n" for line in describe(source.read_text("utf-8"), language))
    if os.environ.get("MARID_GOLDEN") == "1":
        recorded.write_text(found, "utf-8")
    assert found == recorded.read_text("utf-8")


def test_tsx_components_are_functions() -> None:
    source = "export function App({ name }: Props) {\n  return <p>{name}</p>;\n}\nconst Row = () => <tr />;\n"
    assert describe(source, "tsx") == ["function App 1-3", "function Row 4-4"]
