"""What a client asked."""

from collections.abc import Callable

import pytest

from marid.testing.request import Request

Ask = Callable[..., Request]


@pytest.mark.parametrize(
    "headers", [{"authorization": "Bearer hidden"}, {"x-api-key": "hidden"}, {"x-goog-api-key": "hidden"}]
)
def test_the_key_is_found_where_the_protocol_puts_it(ask: Ask, headers: dict[str, str]) -> None:
    assert ask(headers=headers).key == "hidden"


def test_the_key_may_be_in_the_address(ask: Ask) -> None:
    assert ask("/v1beta/models/m:generateContent?key=hidden").key == "hidden"
    assert ask().key == ""


def test_secrets_are_not_shown_when_a_test_fails(ask: Ask) -> None:
    request = ask("/v1/messages?key=hidden", {"messages": "hidden"}, headers={"x-api-key": "hidden"})
    assert "hidden" not in repr(request)
    assert "/v1/messages" in repr(request)


def test_what_all_protocols_share_is_read_off_the_request(ask: Ask) -> None:
    body = {
        "messages": [{"role": "system", "content": "be"}, {"role": "user", "content": "hi"}],
        "tools": [{"function": {"name": "look"}}],
    }
    request = ask("openai", body)
    assert (request.system, request.said, request.results, request.tools) == ("be", "hi", (), ("look",))
