import contextlib
import socket
from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.adapters.web.address_policy import AddressPolicy, is_own, is_public
from marid.core.errors import BadInput, Refused
from marid.text.web.http_urls import parse_url

PRIVATE = [
    *("127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"),
    *("169.254.169.254", "100.64.0.1", "100.100.100.200", "192.0.0.1", "192.0.2.1", "192.88.99.1", "198.18.0.1"),
    *("198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255"),
    *("::", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "::127.0.0.1", "::ffff:0:127.0.0.1"),
    *("64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::a00:1", "2002:7f00:1::", "2002:808:808::", "2001::7f00:1"),
    *("2001:0:808:808::", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "ff0e::1"),
    *("100::1", "2001:db8::1", "3fff::1", "5f00::1", "2001:20::1", "4000::1", "2600::1%eth0"),
]
PUBLIC = [
    *("93.184.216.34", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:2800:220:1::", "2a00:1450::1"),
    *("::ffff:8.8.8.8", "64:ff9b::808:808"),
]


@pytest.mark.parametrize("address", PRIVATE)
def test_what_is_not_on_the_public_internet_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", PUBLIC)
def test_a_host_of_the_internet_is_public(address: str) -> None:
    assert is_public(ip_address(address))


@given(st.ip_addresses())
def test_we_are_never_laxer_than_python(address: object) -> None:
    found = ip_address(str(address))
    if is_public(found) and (found.version == 4 or int(found) >> 96):
        assert found.is_global
        assert not found.is_multicast
        assert found.version == 6 or not found.is_reserved


def test_this_machine_knows_its_own_addresses() -> None:
    assert is_own(ip_address("127.0.0.1"))
    assert not is_own(ip_address("192.0.2.7"))
    assert not is_own(ip_address("255.255.255.255"))  # cannot be reached
    with contextlib.suppress(OSError):
        for entry in socket.getaddrinfo(socket.gethostname(), None):
            assert is_own(ip_address(str(entry[4][0]).partition("%")[0]))


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "[::1]", "10.1.2.3", "[fd00:ec2::254]", "localhost", "intranet", "a.localhost"),
        *("printer.local", "metadata.google.internal", "nas.lan", "x.home.arpa"),
    ],
)
def test_a_private_host_is_refused_without_a_look_up(host: str) -> None:
    with pytest.raises(Refused, match=f"'{host.strip('[]')}' is not a host of the public internet"):
        AddressPolicy().check_target(parse_url(f"http://{host}/"))


@pytest.mark.parametrize("port", [22, 25, 6379, 8999, 8080, 65535])
def test_other_ports_are_refused(port: int) -> None:
    with pytest.raises(Refused, match=f"port {port} "):
        AddressPolicy().check_target(parse_url(f"http://example.com:{port}/"))


def test_public_hosts_are_admitted() -> None:
    for url in ("http://example.com/", "https://example.com/", "http://example.com:443/", "https://8.8.8.8/"):
        AddressPolicy().check_target(parse_url(url))


def test_an_allowed_address_opens_just_that_one() -> None:
    policy = AddressPolicy(["127.0.0.1:8123"])
    policy.check_target(parse_url("http://127.0.0.1:8123/"))
    policy.check_address("127.0.0.1", 8123, ip_address("127.0.0.1"))
    for url in ("http://127.0.0.1/", "http://127.0.0.1:8124/", "http://127.0.0.2:8123/", "http://localhost:8123/"):
        with pytest.raises(Refused):
            policy.check_target(parse_url(url))
    with pytest.raises(Refused):
        policy.check_address("evil.example", 8123, ip_address("127.0.0.1"))


def test_an_allowed_name_opens_its_port_but_no_private_address() -> None:
    policy = AddressPolicy(["search.lan:8888"])
    policy.check_target(parse_url("http://search.lan:8888/"))
    policy.check_address("search.lan", 8888, ip_address("8.8.8.8"))
    with pytest.raises(Refused) as caught:
        policy.check_address("search.lan", 8888, ip_address("10.0.0.7"))
    assert "10.0.0.7" not in str(caught.value)


def test_an_address_of_this_machine_is_refused_though_it_were_public() -> None:
    # Loopback stands in for the public address of a server: both are this machine's own.
    with pytest.raises(Refused):
        AddressPolicy().check_address("me.example", 80, ip_address("127.0.0.1"))


@pytest.mark.parametrize("entry", ["", "127.1:80", "user@host:1", "http://host:1", "host:99999", "*:80"])
def test_a_malformed_entry_is_an_error(entry: str) -> None:
    with pytest.raises(BadInput, match="net_allow takes HOST:PORT"):
        AddressPolicy([entry])
