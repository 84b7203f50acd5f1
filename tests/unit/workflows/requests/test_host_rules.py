"""Requests go to listed hosts and public addresses, or to private ones that are listed themselves."""

from ipaddress import ip_address

import pytest

from app.errors import LabError
from app.workflows.requests.host_rules import HostRules, check_pattern, is_public


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fd00:ec2::254",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::a9fe:a9fe",
        "2002:7f00:1::",
        "ff02::1",
        "fec0::1",
        "192.0.0.8",
        "3fff::1",
        "5f00::1",
        "64:ff9b:1::7f00:1",
        "::127.0.0.1",
    ],
)
def test_an_address_of_no_public_network_is_refused(address: str) -> None:
    rules = HostRules(["api.example.com"], ["api.example.com"])
    destination = rules.check_url("https://api.example.com/prices")
    assert not is_public(ip_address(address))
    with pytest.raises(LabError) as refusal:
        rules.check_addresses(destination, ["93.184.215.14", address])
    assert refusal.value.code == "address_refused"


def test_a_private_address_is_taken_if_it_is_listed_itself_with_its_port() -> None:
    rules = HostRules(["127.0.0.1:8080", "local.example.com"], ["local.example.com", "127.0.0.1:8080"])
    assert rules.check_addresses(rules.check_url("http://127.0.0.1:8080/"), ["127.0.0.1"]) == "127.0.0.1"
    named = rules.check_url("http://local.example.com:8080/")
    assert rules.check_addresses(named, ["127.0.0.1"]) == "127.0.0.1"
    with pytest.raises(LabError):
        rules.check_addresses(rules.check_url("http://local.example.com:81/"), ["127.0.0.1"])


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("https://api.example.com/x", ""),
        ("https://deep.data.example.org/", ""),
        ("https://API.Example.com./x", ""),
        ("https://data.example.org/", "host_not_allowed"),
        ("https://api.example.com.evil.org/", "host_not_allowed"),
        ("https://evil-api.example.com/", "host_not_allowed"),
        ("https://other.example.net/", "host_not_listed"),
        ("https://127.0.0.1/", "host_not_allowed"),
        ("https://2130706433/", "host_not_allowed"),
        ("ftp://api.example.com/", "url_invalid"),
        ("file:///etc/passwd", "url_invalid"),
        ("https://user:word@api.example.com/", "url_invalid"),
        ("https://api.example.com:99999/", "url_invalid"),
        ("https://[::1/", "url_invalid"),
        ("https:///x", "url_invalid"),
        ("https://api.example.com/\r\nHost: x", "url_invalid"),
    ],
)
def test_a_url_is_checked(url: str, code: str) -> None:
    listed = ["api.example.com", "*.data.example.org"]
    rules = HostRules([*listed, "other.example.net"], listed)
    if not code:
        assert rules.check_url(url)
        return
    with pytest.raises(LabError) as refusal:
        rules.check_url(url)
    assert refusal.value.code == code
    assert "user:word" not in refusal.value.detail


@pytest.mark.parametrize("pattern", ["", "*", "*.", "a b", "https://x.org", "x.org/path", "x.org:0", "x.*.org"])
def test_what_is_no_host_is_no_pattern(pattern: str) -> None:
    with pytest.raises(ValueError, match="is no host like"):
        check_pattern(pattern)
