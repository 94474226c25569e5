import pytest

from marid.assembly.formats.format_table import make_renderer
from marid.assembly.formats.json_format import JsonFormat
from marid.assembly.formats.markdown_format import MarkdownFormat
from marid.assembly.formats.text_format import TextFormat
from marid.assembly.formats.xml_format import XmlFormat
from marid.core.context import OutputFormat


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        (OutputFormat.TEXT, TextFormat),
        (OutputFormat.MARKDOWN, MarkdownFormat),
        (OutputFormat.XML, XmlFormat),
        (OutputFormat.JSON, JsonFormat),
    ],
)
def test_every_form_has_its_renderer(form: OutputFormat, kind: type) -> None:
    assert isinstance(make_renderer(form), kind)


def test_a_renderer_is_new_for_every_run() -> None:
    assert make_renderer(OutputFormat.JSON) is not make_renderer(OutputFormat.JSON)
