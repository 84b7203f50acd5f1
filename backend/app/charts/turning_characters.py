"""Characters that turn the order of the text behind them, made visible in drawings."""

from typing import Any

_TURNING = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Embeddings, overrides and isolates of Unicode's bidirectional algorithm."""
_VISIBLE = {code: f"[U+{code:04X}]" for code in _TURNING}


def show_turning(value: Any) -> Any:
    """Write such characters of all texts of a specification as their code points, as the page does.

    A file that is drawn from it would otherwise read `x\\u202egpj.exe` as a picture. Names of members stay.
    """
    if isinstance(value, str):
        return value.translate(_VISIBLE)
    if isinstance(value, dict):
        return {name: show_turning(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [show_turning(part) for part in value]
    return value
