from pathlib import Path

import pytest

from fakes.hands import Hands
from marid.core.errors import BadInput
from marid.core.policy.policy import Effect
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.params import tool_params
from marid.toolkit.spec import tool
from marid.toolkit.url_param import Url


@tool(family="test", effect=Effect.READ)
def visit(url: Url, others: list[Url] | None = None) -> ToolOutput:
    """Say where it leads."""
    return ToolOutput(text=" ".join([url.target.host, *(str(other) for other in others or ())]))


def test_a_url_is_checked_while_it_is_parsed(tmp_path: Path) -> None:
    hands = Hands(tmp_path)
    assert hands.text(visit, url="HTTP://Example.com") == "example.com"
    assert hands.text(visit, url="http://a.example", others=["https://b.example?q"]) == "a.example https://b.example/?q"


@pytest.mark.parametrize("url", ["ftp://example.com", "http://user:pw@example.com/", "http://127.1/", ""])
def test_what_is_no_url_is_bad_input(tmp_path: Path, url: str) -> None:
    assert Hands(tmp_path).failure(visit, url=url).code == "bad_input"
    assert Hands(tmp_path).failure(visit, url="http://a.example", others=[url]).code == "bad_input"


def test_the_schema_says_what_is_wanted() -> None:
    assert tool_params(visit).json_schema["properties"]["url"]["format"] == "uri"


def test_a_url_can_be_made_by_hand() -> None:
    assert str(Url.from_text("http://example.com")) == "http://example.com/"
    with pytest.raises(BadInput):
        Url.from_text("x")
