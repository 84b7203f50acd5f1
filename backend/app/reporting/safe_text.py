"""Text that comes from data, made safe to read: nothing invisible, nothing that turns the line round."""

import unicodedata


def make_legible(text: str) -> str:
    """Control, format and surrogate characters become a visible sign; line breaks become spaces."""
    return "".join(
        " "
        if sign in "\r\n\t"
        else "\N{REPLACEMENT CHARACTER}"
        if unicodedata.category(sign) in _HIDDEN
        else sign
        for sign in text
    )


_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
