"""Text that came from data, a service or a user, as the terminal may show it."""

import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cs"})


def plain(text: object) -> str:
    """Rich markup that shows the text to the letter, but for what would steer a terminal."""
    from rich.markup import escape  # noqa: PLC0415 - rich, which a command without colours need not wait for

    return escape(harmless(text))


def harmless(text: object) -> str:
    """The text with a visible sign for each character that would steer a terminal."""
    return "".join("\N{REPLACEMENT CHARACTER}" if _steers(sign) else sign for sign in str(text))


def _steers(sign: str) -> bool:
    return sign not in "\n\t" and unicodedata.category(sign) in _HIDDEN
