"""The four forms of the output. None can be broken or forged by what a file holds or is called."""

from importlib import import_module
from typing import cast

from marid.assembly.render import Renderer
from marid.assembly.textform import TextForm
from marid.core.context import Form

# Named by string: the default form must not pay for the others.
FORMS = {
    Form.MARKDOWN: "marid.assembly.markdownform:MarkdownForm",
    Form.XML: "marid.assembly.xmlform:XmlForm",
    Form.JSON: "marid.assembly.jsonform:JsonForm",
}


def renderer(form: Form) -> Renderer:
    """The renderer of a form."""
    if form is Form.TEXT:
        return TextForm()
    module, _, name = FORMS[form].partition(":")
    return cast("Renderer", getattr(import_module(module), name)())
