"""Neutralisation of invisible and bidirectional control characters in text from data."""

import unicodedata


def make_legible(text: str) -> str:
    """Replace control, format and surrogate characters by a visible sign, and line breaks by spaces."""
    return "".join(
        " "
        if sign in "\r\n\t"
        else "\N{REPLACEMENT CHARACTER}"
        if unicodedata.category(sign) in _HIDDEN
        else sign
        for sign in text
    )


_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
