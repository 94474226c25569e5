"""The four output formats. File names and contents cannot break or forge any of them."""

from importlib import import_module
from typing import cast

from marid.assembly.formats.format_renderer import FormatRenderer
from marid.assembly.formats.text_format import TextFormat
from marid.core.context import OutputFormat

# By name, so that the default format does not import the others.
FORMATS = {
    OutputFormat.MARKDOWN: "marid.assembly.formats.markdown_format:MarkdownFormat",
    OutputFormat.XML: "marid.assembly.formats.xml_format:XmlFormat",
    OutputFormat.JSON: "marid.assembly.formats.json_format:JsonFormat",
}


def make_renderer(form: OutputFormat) -> FormatRenderer:
    """A renderer for a format."""
    if form is OutputFormat.TEXT:
        return TextFormat()
    module, _, name = FORMATS[form].partition(":")
    return cast("FormatRenderer", getattr(import_module(module), name)())
