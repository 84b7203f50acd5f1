"""Classes in the patterns of `match`, whose parts the interpreter reads as attributes, past every guard."""

from functools import lru_cache
from typing import Any

from app.sandbox.policy.guards.instances import check_attribute_name, is_plain
from app.sandbox.policy.libraries.attribute_names import plain_getattr

_WHOLE_VALUE_CLASSES = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
"""Builtin classes that match one part with the whole value, where other classes read an attribute."""

_MAX_CLASSES = 256
"""Classes whose stand-ins are kept: more than one program has in patterns."""


def check_pattern_class(kind: Any, is_whole: bool) -> type:
    """Return the class for a pattern with parts. Raises TypeError for a class of a library.

    `is_whole`: the pattern has one part, which has no name, and for a builtin class means the whole value.
    A class of a program is replaced by one that only matches instances whose attributes are the program's own.
    """
    if is_whole and any(kind is other for other in _WHOLE_VALUE_CLASSES):
        return kind  # type: ignore[no-any-return]  # one of these
    if not isinstance(kind, type) or not is_plain(kind):
        raise TypeError(
            f"the pattern {kind!r} may have no parts here: match the class, then read the attributes"
        )
    return _stand_in(kind)


@lru_cache(maxsize=_MAX_CLASSES)
def _stand_in(kind: type) -> type:
    names = tuple(check_attribute_name(name) for name in plain_getattr(kind, "__match_args__", ()))

    class StandIn(type):
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, kind) and is_plain(type(value))

    return StandIn(kind.__name__, (), {"__match_args__": names})
