"""Classes of values that variables may hold besides tables, arrays and fitted estimators.

The list is all that a stored state can name: a file with any other class is not read.
"""

import collections
import datetime
import decimal
import fractions
import uuid

PLAIN_CLASSES: dict[tuple[str, str], type] = {
    (kind.__module__, kind.__qualname__): kind
    for kind in (
        *(bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, range, slice),
        *(collections.OrderedDict, collections.defaultdict, collections.Counter, collections.deque),
        *(datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone),
        *(decimal.Decimal, fractions.Fraction, uuid.UUID),
    )
}
PLAIN_CLASSES[("uuid", "SafeUUID")] = uuid.SafeUUID  # a part of each UUID
_CLASSES = frozenset(PLAIN_CLASSES.values())


def is_plain(kind: type) -> bool:
    """Test for a listed class itself; a class of a program that comes from one is another."""
    return kind in _CLASSES


def find_plain(module: str, name: str) -> type:
    """Raises LookupError for a class that is not listed."""
    return PLAIN_CLASSES[(module, name)]


ATOMS = frozenset((type(None), bool, int, float, complex, str, bytes))
"""Classes of values that cannot be changed and hold no other object."""
CONTAINERS = frozenset(
    (
        *(bytearray, list, dict, set, tuple, frozenset),
        *(collections.OrderedDict, collections.defaultdict, collections.Counter, collections.deque),
    )
)
