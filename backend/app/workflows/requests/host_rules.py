"""Rules of hosts: the operator's list bounds that of each owner, and private addresses must be
listed themselves."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from app.errors import Forbidden, InvalidInput

Address = IPv4Address | IPv6Address
_PORTS = {"http": 80, "https": 443}
_TRANSLATED = 96
"""Leading bits of an IPv6 address that holds an IPv4 address (NAT64, mapped)."""

_NOT_PUBLIC = tuple(
    ip_network(network) for network in ("192.0.0.0/24", "fec0::/10", "3fff::/20", "5f00::/16", "64:ff9b:1::/48")
)
"""Networks that IANA keeps from the internet, in its registries of special addresses, and Python 3.11 takes for
public: protocol assignments, former site-local addresses, documentation, segment routing, NAT64 of a site."""


@dataclass(frozen=True)
class Destination:
    """A checked URL. `host` without brackets, lower-case."""

    url: SplitResult
    host: str
    port: int

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port (RFC 6454), to which headers belong: ports of one host differ in services."""
        return self.url.scheme, self.host, self.port

    @property
    def is_default_port(self) -> bool:
        return self.port == _PORTS[self.url.scheme]


@dataclass(frozen=True)
class HostRules:
    """`operator`: HTTP_ALLOWED_HOSTS; `owner`: hosts that the owner lists.

    A pattern is `host`, `host:port` or `*.host`.
    """

    operator: Sequence[str]
    owner: Sequence[str]

    def check_url(self, text: str) -> Destination:
        """Raises InvalidInput for a URL that is none, Forbidden for a host that is not allowed."""
        destination = parse_url(text)
        if not _is_listed(destination, self.operator):
            raise Forbidden(
                "host_not_allowed",
                f"Requests to {destination.host} are not allowed on this service. An operator allows "
                f"hosts by the setting "
                "HTTP_ALLOWED_HOSTS.",
                host=destination.host,
            )
        if not _is_listed(destination, self.owner):
            raise Forbidden(
                "host_not_listed",
                f"Your workflows may not send requests to {destination.host} yet. Add it to your hosts: "
                "in the page under Account, or by PUT /request-hosts.",
                host=destination.host,
            )
        return destination

    def check_addresses(self, destination: Destination, addresses: Sequence[str]) -> str:
        """Return the address to connect to. Raises Forbidden if any is private and not listed by address.

        One private address among several is enough: a name that mixes them is made for attacks.
        """
        if not addresses:
            raise InvalidInput("host_unknown", f"The name {destination.host} has no address.")
        for text in addresses:
            # Without the zone of a link-local address.
            address = ip_address(text.partition("%")[0])
            if not is_public(address) and not self._is_listed_by_address(address, destination.port):
                raise Forbidden(
                    "address_refused",
                    f"{destination.host} is at an address of a private network, which is refused. An "
                    f"operator allows it by "
                    "listing the address itself in HTTP_ALLOWED_HOSTS.",
                    host=destination.host,
                )
        # The address that was checked is connected to: a second look-up of the name could answer otherwise.
        return addresses[0]

    def _is_listed_by_address(self, address: Address, port: int) -> bool:
        return any(_matches_address(pattern, address, port) for pattern in self.operator)


def parse_url(text: str) -> Destination:
    """Raises InvalidInput that says what is wrong, without the URL: it may hold a secret."""
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError as error:
        raise InvalidInput("url_invalid", "The URL of the request cannot be read.") from error
    if url.scheme not in _PORTS:
        raise InvalidInput("url_invalid", "Requests go to http and https only.")
    if not url.hostname:
        raise InvalidInput("url_invalid", "The URL of the request has no host.")
    if url.username is not None or url.password is not None:
        raise InvalidInput("url_invalid", "A URL must not hold a name or password. Use a secret.")
    if any(ord(character) <= 32 or ord(character) == 127 for character in text):
        raise InvalidInput("url_invalid", "The URL of the request has blanks or control characters.")
    try:
        # In the form of the name system, as lists have it: letters that only look alike differ there.
        host = url.hostname.rstrip(".").encode("idna").decode() if not url.hostname.isascii() else url.hostname
    except UnicodeError as error:
        raise InvalidInput("url_invalid", "The host of the URL cannot be read.") from error
    return Destination(url, host.rstrip(".").lower(), port or _PORTS[url.scheme])


def is_public(address: Address) -> bool:
    """Check that an address is of the public internet; also of the IPv4 address inside an IPv6 one."""
    if isinstance(address, IPv6Address):
        # Forms of IPv6 that lead to an IPv4 address: a private one would be reached around the rules.
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if inner is None and address.packed[:12] == bytes.fromhex("0064ff9b0000000000000000"):
            inner = IPv4Address(address.packed[_TRANSLATED // 8 :])
        if inner is not None:
            return is_public(inner)
    if any(address in network for network in _NOT_PUBLIC):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def check_pattern(pattern: str) -> str:
    """Return a pattern in lower case. Raises ValueError if it is none."""
    text = pattern.strip().lower().rstrip(".")
    host, port = _split_port(text.removeprefix("*."))
    is_name = bool(host) and all(character.isalnum() or character in "-._:[]" for character in host)
    if not is_name or (port is not None and not 0 < port < 65_536) or "*" in host:
        raise ValueError(f"{pattern} is no host like api.example.com, *.example.com or 127.0.0.1:8080")
    return text


def _is_listed(destination: Destination, patterns: Sequence[str]) -> bool:
    for pattern in patterns:
        host, port = _split_port(pattern.removeprefix("*."))
        if port not in (None, destination.port):
            continue
        if destination.host == host.strip("[]") and not pattern.startswith("*."):
            return True
        if pattern.startswith("*.") and destination.host.endswith(f".{host}"):
            return True
    return False


def _matches_address(pattern: str, address: Address, port: int) -> bool:
    host, listed_port = _split_port(pattern)
    try:
        return ip_address(host.strip("[]")) == address and listed_port in (None, port)
    except ValueError:
        return False


def _split_port(pattern: str) -> tuple[str, int | None]:
    host, colon, port = pattern.rpartition(":")
    # The last group of a bare IPv6 address is no port.
    is_bare_address = pattern.count(":") > 1 and not pattern.startswith("[")
    if colon and port.isdigit() and not is_bare_address:
        return host, int(port)
    return pattern, None
