"""No form of a secret is left in an answer that repeats it."""

import base64
import json
from collections.abc import Callable
from urllib.parse import quote

import pytest

from app.workflows.requests.withheld import MARK, WithheldSecret

VALUE = 'pa"ss/wörd+1'
SECRET = WithheldSecret(VALUE)


@pytest.mark.parametrize(
    "form",
    [
        VALUE,
        f"Bearer {VALUE}",
        json.dumps(VALUE),
        json.dumps(VALUE, ensure_ascii=False),
        json.dumps(VALUE).replace("/", "\\/"),
        f"https://a.example/x?token={quote(VALUE, safe='')}",
        base64.b64encode(VALUE.encode()).decode(),
    ],
)
def test_each_form_is_taken_out(form: str) -> None:
    withheld = SECRET.withhold_text(f"before {form} behind")
    assert MARK in withheld
    assert withheld.startswith("before ")
    assert withheld.endswith(" behind")
    for part in ("wörd", "w\\u00f6rd", "w%C3%B6rd", base64.b64encode(VALUE.encode()).decode()[:8]):
        assert part not in withheld


@pytest.mark.parametrize("code", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "user:"])
@pytest.mark.parametrize("behind", ["", "!", "!?", "@host"])
def test_the_base64_of_a_longer_text_keeps_no_letter_of_the_secret(
    code: Callable[[bytes], bytes], before: str, behind: str
) -> None:
    encoded = code(f"{before}{VALUE}{behind}".encode()).decode()
    withheld = SECRET.withhold_text(json.dumps({"sent": encoded}).replace("/", "\\/"))
    assert MARK in withheld
    left = json.loads(withheld)["sent"].split(MARK)
    # What is left of a text is its own: no more bytes of it than stand before and behind the secret.
    assert 3 * len(left[0]) // 4 <= len(before)
    assert 3 * len(left[1].rstrip("=")) // 4 <= len(behind)


def test_base64_of_other_text_stays() -> None:
    content = json.dumps({"image": base64.b64encode(bytes(range(256)) * 40).decode()}).encode()
    assert SECRET.withhold(content) is content


def test_json_stays_json_and_figures_stay_whole() -> None:
    pin = WithheldSecret("2580")
    content = json.dumps({"pin": 2580, "text": "2580", "total": 925801, "share": 2580.5})
    kept = json.loads(pin.withhold(content.encode()))
    assert kept == {"pin": 0, "text": "0", "total": 925801, "share": 2580.5}


def test_what_is_no_secret_stays_as_it_is() -> None:
    content = b'{"a": 1}'
    assert WithheldSecret().withhold(content) is content
    assert WithheldSecret("a").withhold(content) is content, "one letter stands in any text"


def test_an_address_of_the_service_is_restored_for_it() -> None:
    address = f"https://a.example/x?page=2&token={quote(VALUE, safe='')}"
    assert SECRET.restore(SECRET.withhold_text(address)) == address
