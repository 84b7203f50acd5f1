"""Secrets that an answer repeats: they are taken out before it is stored, read or shown to anybody."""

import base64
import json
import re
from dataclasses import dataclass, field
from urllib.parse import quote, quote_plus

MARK = "__secret__"
"""Stands in an answer where it repeated a secret: plain in JSON, in a URL and in a header."""
MIN_WITHHELD_CHARS = 4
"""Characters of the shortest secret that is looked for: shorter ones stand in any text by chance."""
MIN_EMBEDDED_CHARS = 6
"""Characters of the shortest piece of base64 that is looked for: one of six stands in 10 MiB of it by
chance once in 6,000 answers."""


@dataclass(frozen=True)
class WithheldSecret:
    """The secret of a request. `value`: None for a request without one."""

    value: str | None = field(default=None, repr=False)

    def withhold(self, content: bytes) -> bytes:
        """Return an answer without the secret, in whatever form JSON, URLs or base64 write it."""
        value = self.value
        if value is None or len(value) < MIN_WITHHELD_CHARS:
            return content
        # The longest first: the plain value may be a part of another form.
        for form in sorted(_list_forms(value), key=len, reverse=True):
            content = _replace(content, form)
        for piece in _list_embedded(value):
            content = _replace_embedded(content, piece)
        return content

    def withhold_text(self, text: str) -> str:
        return self.withhold(text.encode()).decode(errors="replace")

    def restore(self, text: str) -> str:
        """Return an address or a cursor of the service as it was: it goes back to where it came from."""
        return text if self.value is None else text.replace(MARK, quote(self.value, safe=""))


def _list_forms(value: str) -> set[str]:
    json_forms = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    in_urls = {quote(value, safe=""), quote(value), quote_plus(value)}
    in_base64 = {code(value.encode()).decode().rstrip("=") for code in _ENCODERS}
    return json_forms | in_urls | {form.replace("/", "\\/") for form in json_forms} | in_base64


_ENCODERS = (base64.b64encode, base64.urlsafe_b64encode)


def _list_embedded(value: str) -> set[str]:
    """Return the characters that are the secret's alone in the base64 of a longer text.

    There is a piece for each of the three places where it can begin in a group of three bytes.
    """
    content = value.encode()
    pieces = set[str]()
    for shift in range(3):
        # The first and the last character may hold bits of what stands beside the secret.
        own = slice(-(-8 * shift // 6), 8 * (shift + len(content)) // 6)
        pieces |= {code(b"\0" * shift + content).decode()[own] for code in _ENCODERS}
    long = {piece for piece in pieces if len(piece) >= MIN_EMBEDDED_CHARS}
    return long | {piece.replace("/", "\\/") for piece in long}


def _replace_embedded(content: bytes, piece: str) -> bytes:
    if piece.encode() not in content:
        return content
    # With the characters beside it, which hold the rest of its bits.
    pattern = rb"[A-Za-z0-9+/_-]?" + re.escape(piece.encode()) + rb"[A-Za-z0-9+/_-]?"
    return re.sub(pattern, MARK.encode(), content)


def _replace(content: bytes, form: str) -> bytes:
    if form.isascii() and form.isdigit():
        # A number of its own, so that no figure loses digits, and a number afterwards, so that JSON stays JSON.
        return re.sub(rb"(?<![\d.])" + form.encode() + rb"(?![\d.])", b"0", content)
    return content.replace(form.encode(), MARK.encode())
