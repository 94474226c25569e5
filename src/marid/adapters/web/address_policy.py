"""Which hosts, ports and addresses may be connected to: the public internet, and what the user allows."""

import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TypeAlias

from marid.core.errors import BadInput, Refused
from marid.ports.web import PLAIN_PORTS, Target
from marid.text.web.http_urls import parse_url

Address: TypeAlias = IPv4Address | IPv6Address

# From the registries of special-purpose addresses: `is_global` differs between versions of Python.
_SPECIAL = tuple(
    ip_network(text)
    for text in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16"),
        *("192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        *("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"),
    )
)
_GLOBAL_V6 = ip_network("2000::/3")
_NAT64 = ip_network("64:ff9b::/96")
# Names that are never a host of the public internet.
_PRIVATE_SUFFIXES = (".localhost", ".local", ".localdomain", ".internal", ".intranet", ".lan", ".home.arpa")


def is_public(address: Address) -> bool:
    """Whether it is a host of the public internet; an IPv4 address inside an IPv6 one is judged as IPv4."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped
        if inner is None and address in _NAT64:
            inner = IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
        if address not in _GLOBAL_V6 or address.scope_id is not None:
            return False
    return not any(address in network for network in _SPECIAL if network.version == address.version)


def is_own(address: Address) -> bool:
    """Whether it is an address of this machine: only then would a packet to it also come from it. Sends nothing."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((str(address), 9))
        except OSError:
            return False
        return ip_address(probe.getsockname()[0]) == address


class AddressPolicy:
    """An allowed `address:port` opens that address; an allowed `name:port` opens only the port.

    The address of a name must still be public: the owner of a name must not choose what we reach.
    """

    def __init__(self, allow: Sequence[str] = ()) -> None:
        self._allowed = frozenset(_parse_allowed_host(text) for text in allow)

    def check_target(self, target: Target) -> None:
        """Check a target before resolving it. Raises: Refused."""
        if (target.host, target.port) in self._allowed:
            return
        if target.port not in PLAIN_PORTS.values():
            raise Refused(f"port {target.port} is not 80 or 443 (the setting net_allow names others)")
        try:
            self.check_address(target.host, target.port, ip_address(target.host))
        except ValueError:
            if "." not in target.host or target.host.endswith(_PRIVATE_SUFFIXES):
                raise _not_public_error(target.host) from None

    def check_address(self, host: str, port: int, address: Address) -> None:
        """Check an address of a host. Raises: Refused, without naming the address."""
        if host == str(address) and (host, port) in self._allowed:
            return
        if not is_public(address) or is_own(address):
            raise _not_public_error(host)


def _not_public_error(host: str) -> Refused:
    return Refused(f"'{host}' is not a host of the public internet")


def _parse_allowed_host(text: str) -> tuple[str, int]:
    try:
        target = parse_url(f"http://{text}/")
    except BadInput as cause:
        raise BadInput(f"net_allow takes HOST:PORT: {cause}") from cause
    return target.host, target.port
