"""Other names of countries and states: codes, and words for their people."""

from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("place_names.txt")


@cache
def load_place_names() -> dict[str, tuple[str, ...]]:
    """Return for each name, and word for people, how tables may spell the place: names first, then codes.

    A code is no name: `no` and `in` are words of their own.
    """
    spellings: dict[str, tuple[str, ...]] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        names, codes, people = (part.strip() for part in line.split("|"))
        own_names = [name.strip() for name in names.split(",")]
        demonyms = [part.strip() for part in (people.split(",") if "," in people else people.split())]
        forms = (*own_names, *codes.split(), *demonyms)
        for name in filter(None, (*own_names, *demonyms)):
            others = tuple(text for text in forms if text != name)
            spellings[name] = (*spellings.get(name, ()), *others)
    return spellings
