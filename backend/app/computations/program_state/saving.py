"""Groups of names that share objects, and what of them is kept."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from app.computations.program_state.refused_values import NotKept
from app.computations.program_state.state_file import make_group_id
from app.computations.program_state.values import Parts, ValueWriter, write_value

MAX_OVERLAP_WORK = 1_000
"""Steps after which numpy gives up to tell whether two arrays overlap; then they count as such."""


@dataclass
class SavedGroups:
    """`groups`: pickles by id. `group_of`: the group of each name. `parts_of`: parts of each group."""

    groups: dict[str, bytes] = field(default_factory=dict)
    group_of: dict[str, str] = field(default_factory=dict)
    parts_of: dict[str, list[str]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    not_kept: dict[str, str] = field(default_factory=dict)
    fingerprints: dict[str, str] = field(default_factory=dict)
    """Of values that are frames themselves: equal ones have equal frames."""


def save_groups(values: Mapping[str, object]) -> SavedGroups:
    """Write values; names that share objects become one group, and names that cannot be kept are said."""
    saved = SavedGroups()
    parts = Parts()
    pickles: dict[str, tuple[bytes, ValueWriter]] = {}
    # In order of the names, so that the same values give the same groups whichever was assigned first.
    for name in sorted(values):
        before = parts.size_bytes
        try:
            pickles[name] = write_value({name: values[name]}, parts)
        except NotKept as reason:
            # A value that is not kept takes nothing of the limit.
            parts.size_bytes = before
            saved.not_kept[name] = str(reason)
    for name in _find_views({name: writer.arrays for name, (_, writer) in pickles.items()}):
        saved.not_kept[name] = "a view of an array that is kept already; copy() makes it one of its own"
        del pickles[name]
    for names in _group_names({name: writer.shared for name, (_, writer) in pickles.items()}):
        try:
            # Names that share objects are written again as one pickle, in which a shared object is one.
            data, writer = (
                pickles[names[0]]
                if len(names) == 1
                else write_value({name: values[name] for name in names}, parts)
            )
        except NotKept as reason:
            saved.not_kept |= dict.fromkeys(names, str(reason))
            continue
        group = make_group_id(data)
        saved.groups[group] = data
        saved.parts_of[group] = sorted(writer.part_names)
        saved.group_of |= dict.fromkeys(names, group)
        for name in names:
            saved.fingerprints |= _find_fingerprint(name, values[name], parts)
    used = {part for group_parts in saved.parts_of.values() for part in group_parts}
    saved.files = {name: data for name, data in parts.files.items() if name in used}
    return saved


def _group_names(shared: Mapping[str, set[int]]) -> list[list[str]]:
    """Join the names whose values have an object in common."""
    group_of: dict[str, list[str]] = {name: [name] for name in shared}
    holder: dict[int, str] = {}
    for name, identities in shared.items():
        for identity in identities:
            other = holder.setdefault(identity, name)
            if group_of[other] is not group_of[name]:
                joined = group_of[other]
                joined += group_of[name]
                for member in group_of[name]:
                    group_of[member] = joined
    unique = {id(group): group for group in group_of.values()}
    return [sorted(group) for group in unique.values()]


def _find_views(arrays: Mapping[str, list[np.ndarray[Any, Any]]]) -> list[str]:
    """Find names with an array whose memory another array has, too: they would come back as two."""
    spans = []
    for name, members in arrays.items():
        for array in {id(member): member for member in members}.values():
            low, high = np.lib.array_utils.byte_bounds(array)
            spans.append((low, high, name, array))
    # By address, so that an array is compared only with those that begin before its end.
    spans.sort(key=lambda span: span[:3])
    views: dict[str, None] = {}
    open_spans: list[tuple[int, int, str, Any]] = []
    for span in spans:
        open_spans = [other for other in open_spans if other[1] > span[0]]
        for other in open_spans:
            if other[3] is not span[3] and _overlap(other[3], span[3]):
                views[_choose_view(other, span)] = None
        open_spans.append(span)
    return list(views)


def _choose_view(first: tuple[int, int, str, Any], second: tuple[int, int, str, Any]) -> str:
    """Return the name that is left out: that of the view, of two views that of the smaller one."""
    # An array without a base owns its memory, and is kept.
    return min(first, second, key=lambda span: (span[3].base is None, span[3].nbytes))[2]


def _overlap(first: Any, second: Any) -> bool:
    try:
        return bool(np.shares_memory(first, second, max_work=MAX_OVERLAP_WORK))  # type: ignore[arg-type]  # the stubs know two values
    except np.exceptions.TooHardError:
        return True


def _find_fingerprint(name: str, value: object, parts: Parts) -> dict[str, str]:
    if not isinstance(value, pd.DataFrame):
        return {}
    _, (_, part, data, *_) = parts.encoded[id(value)]
    return {name: str(part) if part is not None else make_group_id(data)}
