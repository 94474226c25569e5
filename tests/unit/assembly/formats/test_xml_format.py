import re
from xml.etree import ElementTree as ET

from hypothesis import given, settings

from fakes.context_formats import item, projects, read_xml
from marid.assembly.formats.format_table import pack
from marid.assembly.formats.xml_format import XmlFormat
from marid.assembly.items import ContextItem, Section
from marid.core.context import Level


def written(items: list[ContextItem], sections: tuple[Section, ...] = ()) -> bytes:
    return b"".join(piece for batch in pack(sections, items, XmlFormat()) for piece in batch.buffers)


def test_a_file_is_an_element_with_its_facts() -> None:
    assert written([item("src/a.py", b"if a < b:\n")]) == (
        b'<?xml version="1.0" encoding="UTF-8"?>\n<context>\n'
        b'<file path="src/a.py" size="10" modified="2023-11-14T22:13:20Z"><![CDATA[if a < b:\n]]></file>\n</context>\n'
    )


def test_every_fact_that_is_out_of_the_ordinary_is_told() -> None:
    odd = ContextItem("a", b"\x01", 3, 0.0, "cp1252", Level.OUTLINE, 2, 5, ((1, 2), (4, 4)))
    (file,) = ET.fromstring(written([odd]))
    assert file.attrib == {
        "path": "a",
        "size": "3",
        "modified": "1970-01-01T00:00:00Z",
        "encoding": "cp1252",
        "level": "outline",
        "lines": "1-2, 4-4",
        "tokens": "5",
        "masked": "2",
        "replaced": "1",
    }


def test_line_ends_and_the_end_of_cdata_survive() -> None:
    assert read_xml(written([item("a", b"1 & <2>\r\n3\r4\n")])) == [("a", "1 & <2>\r\n3\r4\n")]
    assert read_xml(written([item("a", b"x]]>y]]]>z")])) == [("a", "x]]>y]]]>z")]


def test_characters_that_xml_cannot_hold_are_replaced_and_counted() -> None:
    text = written([item("a", b"\x00\x1bx\xef\xbf\xbe")])
    assert read_xml(text) == [("a", "\ufffd\ufffdx\ufffd")]
    assert b'replaced="3"' in text


def test_sections_and_names_are_elements_too() -> None:
    named = item("b", b"", 7)._replace(level=Level.NAME)
    root = ET.fromstring(written([named], (Section("tree", 'Tree "\t\n<&', b"p/\n"),)))
    assert [(one.tag, one.get("title"), one.get("level"), one.text) for one in root] == [
        ("tree", 'Tree "\t\n<&', None, "p/\n"),
        ("file", None, "name", None),
    ]


def test_no_files_are_an_empty_element() -> None:
    assert list(ET.fromstring(written([]))) == []


@settings(deadline=None)
@given(projects())
def test_a_parser_gets_every_name_and_content_back(items: list[ContextItem]) -> None:
    not_xml = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
    assert read_xml(written(items)) == [(one.path, not_xml.sub("\ufffd", one.body.decode())) for one in items]
