"""The four forms of the output. None can be broken or forged by what a file holds or is called."""

from importlib import import_module
from typing import cast

from marid.assembly.formats.format_renderer import FormatRenderer
from marid.assembly.formats.text_format import TextFormat
from marid.core.context import OutputFormat

# Named by string: the default form must not pay for the others.
FORMS = {
    OutputFormat.MARKDOWN: "marid.assembly.formats.markdown_format:MarkdownFormat",
    OutputFormat.XML: "marid.assembly.formats.xml_format:XmlFormat",
    OutputFormat.JSON: "marid.assembly.formats.json_format:JsonFormat",
}


def make_renderer(form: OutputFormat) -> FormatRenderer:
    """The renderer of a form."""
    if form is OutputFormat.TEXT:
        return TextFormat()
    module, _, name = FORMS[form].partition(":")
    return cast("FormatRenderer", getattr(import_module(module), name)())
