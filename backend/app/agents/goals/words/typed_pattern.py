"""Patterns whose named groups are read into typed values."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

Groups = TypeVar("Groups")


@dataclass(frozen=True)
class TypedPattern(Generic[Groups]):
    """A pattern and the type of its matches, with one field for each named group.

    `re` forbids a name twice in a pattern. Groups of alternatives are numbered (`count1`, `count2`) and share
    the field without the number; the one that matched gives its value.
    """

    regex: re.Pattern[str]
    groups: Callable[..., Groups]

    def search(self, text: str) -> Groups | None:
        """Return the groups of the first match."""
        match = self.regex.search(text)
        return self.read(match) if match else None

    def find_all(self, text: str) -> Iterator[Groups]:
        """Yield the groups of all matches."""
        return map(self.read, self.regex.finditer(text))

    def read(self, match: re.Match[str]) -> Groups:
        """Read the groups of a match of `regex`."""
        return read_groups(self.groups, match)


def read_groups(groups: Callable[..., Groups], match: re.Match[str]) -> Groups:
    """Read the named groups of a match into a value; see `TypedPattern` for numbered names."""
    fields: dict[str, str | None] = {}
    for name, text in match.groupdict().items():
        field = name.rstrip("0123456789")
        fields[field] = fields.get(field) or text
    return groups(**fields)
