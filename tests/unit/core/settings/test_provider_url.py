import pytest

from marid.core.settings.provider_url import url_problem


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8080/v1",
        "https://openrouter.ai/api/v1/",
        "HTTP://host",
        "http://[::1]:9/v1",
        "http://name:p%40ss@host:1/v1",
        "http://name:a@b@host",
        "https://bücher.example/v1",
        "http://[fe80::1%lo]:1/v1",
        "http://[::ffff:127.0.0.1]/v1",
        "http://127.0.0.1:/v1",
    ],
)
def test_an_http_address_has_no_problem(url: str) -> None:
    assert url_problem(url) == ""


@pytest.mark.parametrize(
    "url",
    [
        *("nourl", "localhost:1234", "ftp://x/v1", "http://", "http:///v1", "http://x:0/v1", "http://[::1/v1"),
        *("http://x:99999", "http://x:port/v1", "http://a b/v1", " http://x", "http://x/v1\n", "http://secret@"),
        *("http://[:::]/v1", "http://[::1:2:3:4:5:6:7:8:9]/v1", "http://[...]:80/v1", "http://[fe80::1%]/v1"),
        *("http://999.1.1.1/v1", "http://a\uff0fb/v1", "http://ho\x01st/v1", "http://host/v1/\x7f", "http://\xad/v1"),
        *("http://a]@host/v1", "http://host/\ud800", "http://host/" + "a" * 70_000),
    ],
)
def test_what_is_none_is_told_without_being_shown(url: str) -> None:
    assert url_problem(url) == "must be an http or https URL, such as http://localhost:1234/v1"


@pytest.mark.parametrize("more", ["?key=secret", "#secret", "?"])
def test_what_would_be_lost_of_an_address_is_told_without_being_shown(more: str) -> None:
    assert url_problem(f"http://host:1/v1{more}") == "must not contain '?' or '#'"
