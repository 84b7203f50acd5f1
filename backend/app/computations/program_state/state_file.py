"""The file with the variables of a conversation: a zip with a pickle for each group of names."""

import hashlib
import io
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.computations.program_state.values import MAX_STATE_BYTES, ValueReader
from app.errors import InvalidInput

_GROUP = re.compile(r"[0-9a-f]{64}")
_DATE = (1980, 1, 1, 0, 0, 0)
"""Date of every member, so that the same groups are the same bytes."""


def make_group_id(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def write_state(groups: Mapping[str, bytes]) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as archive:
        for group, data in sorted(groups.items()):
            archive.writestr(zipfile.ZipInfo(group, _DATE), data)
    return sink.getvalue()


def read_groups(path: Path, groups: Sequence[str]) -> dict[str, bytes]:
    """Read groups as bytes. Raises InvalidInput for a file that is none."""
    if not groups:
        return {}
    try:
        with zipfile.ZipFile(path) as archive:
            # Sizes come from the directory of the archive: nothing is unpacked that is too large.
            sizes = [archive.getinfo(group).file_size for group in groups if _GROUP.fullmatch(group)]
            if len(sizes) != len(groups) or sum(sizes) > MAX_STATE_BYTES:
                raise _make_unreadable("it is too large")
            return {group: archive.read(group) for group in groups}
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise _make_unreadable(str(error)) from error


def load_values(data: bytes, names: Sequence[str], read_part: Callable[[str], bytes]) -> dict[str, Any]:
    """Load the named values of a group. Raises InvalidInput for a group that cannot be read."""
    try:
        values = ValueReader(data, read_part).load()
        return {name: values[name] for name in names}
    except MemoryError:
        raise
    except Exception as error:  # a pickle of other bytes raises nearly anything
        raise _make_unreadable(f"{type(error).__name__}: {error}") from error


def _make_unreadable(reason: str) -> InvalidInput:
    return InvalidInput(
        "variables_unreadable",
        f"The variables of this conversation cannot be read: {reason[:300]}. Branch before the last program, "
        "or make them again.",
    )
