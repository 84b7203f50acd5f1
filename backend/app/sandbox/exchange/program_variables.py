"""Variables that programs of a conversation leave to later ones, and the names that code can reach.

Pure: workers and cells share it.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

STATE_FILE = "variables.zip"
"""File with the values of variables, beside the program; large arrays and frames are parts of their own."""
PART = re.compile(r"part-([0-9a-f]{64})\.(?:parquet|npy|skops)")
"""Name of the file of a part: its digest, so that an unchanged one is stored once. No frame has such a name."""
RESULT_FILE = "result.parquet"
"""File of a result with more rows than its preview, named as that of a query."""
MAX_VARIABLES = 500
"""Variables of a conversation: each is a row of every snapshot."""

_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class ProgramVariables:
    """Variables before an execution, for the cell.

    `groups`: names to load by the group that holds them; names of one group may share objects. `kept_groups`:
    groups that stay as they are. `definitions`: statements to run again. `frames`: fingerprints of loaded
    frames. `other_names`: number of variables that the program cannot reach.
    """

    seed: int
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    kept_groups: Sequence[str] = ()
    definitions: Sequence[str] = ()
    frames: Mapping[str, str] = field(default_factory=dict)
    other_names: int = 0


def find_words(source: str) -> set[str]:
    """Find all words of a program, those in its texts too: `query` reads variables by name.

    Python compares names in their normal form NFKC.
    """
    return {*_WORD.findall(source), *_WORD.findall(unicodedata.normalize("NFKC", source))}


def find_reachable(source: str, groups: Mapping[str, str | None], sources: Mapping[str, str]) -> set[str]:
    """Find the variables that a program can reach, by its words and those of the definitions that it reaches.

    `groups`: group of each variable, None of a definition. `sources`: statements of definitions by name.
    """
    siblings: dict[str, list[str]] = {}
    for name, group in groups.items():
        if group is not None:
            siblings.setdefault(group, []).append(name)
    reachable: set[str] = set()
    waiting: list[str] = _select(source, groups)
    while waiting:
        name = waiting.pop()
        if name in reachable:
            continue
        reachable.add(name)
        group = groups[name]
        # With one member of a group all are loaded, since they may share objects.
        waiting += siblings[group] if group is not None else _select(sources.get(name, ""), groups)
    return reachable


def _select(source: str, names: Iterable[str]) -> list[str]:
    words = find_words(source)
    return [name for name in names if name in words]
