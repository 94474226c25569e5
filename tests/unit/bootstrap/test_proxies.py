import pytest

from marid.bootstrap.environment import find_proxy

HTTPS, HTTP = "https://api.example.org/v1", "http://api.example.org/v1"


@pytest.mark.parametrize(
    ("environ", "url", "proxy"),
    [
        ({}, HTTPS, ""),
        ({"HTTPS_PROXY": "http://p:1"}, HTTPS, "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1"}, HTTP, ""),
        ({"HTTP_PROXY": "p:1"}, HTTP, "http://p:1"),
        ({"ALL_PROXY": "socks5://p:1"}, HTTPS, "socks5://p:1"),
        ({"ALL_PROXY": "http://a", "https_proxy": "http://b", "HTTPS_PROXY": "http://c"}, HTTPS, "http://b"),
        ({"HTTP_PROXY": "http://stranger", "REQUEST_METHOD": "GET"}, HTTP, ""),
        ({"http_proxy": "http://mine", "REQUEST_METHOD": "GET"}, HTTP, "http://mine"),
    ],
)
def test_the_usual_variables_name_a_proxy(environ: dict[str, str], url: str, proxy: str) -> None:
    assert find_proxy(environ, url) == proxy


@pytest.mark.parametrize(
    "url",
    ["http://localhost:11434/v1", "http://127.0.0.1:1234", "http://127.9.9.9", "http://[::1]:80", "http://a.localhost"],
)
def test_this_machine_is_never_behind_a_proxy(url: str) -> None:
    assert find_proxy({"ALL_PROXY": "http://p"}, url) == ""


@pytest.mark.parametrize(
    ("no", "url", "direct"),
    [
        ("*", HTTPS, True),
        ("example.org", HTTPS, True),
        (".example.org", HTTPS, True),
        ("*.example.org", HTTPS, True),
        ("ample.org", HTTPS, False),
        ("other.org, API.example.org", HTTPS, True),
        ("api.example.org:443", HTTPS, True),
        ("api.example.org:8443", HTTPS, False),
        ("10.0.0.0/8", "http://10.1.2.3/v1", True),
        ("10.0.0.0/8", "http://11.1.2.3/v1", False),
        ("10.1.2.3:8080", "http://10.1.2.3:8080", True),
        ("[fd00::1]:80", "http://[fd00::1]/", True),
        ("fd00::/8", "http://[fd00::1]/", True),
        ("", HTTPS, False),
    ],
)
def test_some_hosts_are_asked_directly(no: str, url: str, direct: bool) -> None:
    assert (find_proxy({"ALL_PROXY": "http://p", "NO_PROXY": no}, url) == "") is direct
