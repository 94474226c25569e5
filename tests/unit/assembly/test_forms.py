import pytest

from marid.assembly.forms import renderer
from marid.assembly.jsonform import JsonForm
from marid.assembly.markdownform import MarkdownForm
from marid.assembly.textform import TextForm
from marid.assembly.xmlform import XmlForm
from marid.core.context import Form


@pytest.mark.parametrize(
    ("form", "kind"),
    [(Form.TEXT, TextForm), (Form.MARKDOWN, MarkdownForm), (Form.XML, XmlForm), (Form.JSON, JsonForm)],
)
def test_every_form_has_its_renderer(form: Form, kind: type) -> None:
    assert isinstance(renderer(form), kind)


def test_a_renderer_is_new_for_every_run() -> None:
    assert renderer(Form.JSON) is not renderer(Form.JSON)
