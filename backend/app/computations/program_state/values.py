"""Values as pickles that name no class but the plain ones; tables, arrays and estimators are leaves.

A leaf is a persistent id: `(kind, number, ...)`, and `("again", number)` where it occurs again, so that two
names for one object stay two names for one object.
"""

import hashlib
import io
import pickle
import zoneinfo
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import skops.io
from sklearn.base import BaseEstimator

from app.computations.program_state.plain_classes import ATOMS, CONTAINERS, find_plain, is_plain
from app.computations.program_state.refused_values import NotKept, describe_kind
from app.computations.program_state.tables import (
    TABLE_CLASSES,
    decode_frame,
    encode_frame,
    from_frame,
    to_frame,
)
from app.modeling.custom_code.state import TREE_TYPES

PROTOCOL = 5
"""Version of pickles: the newest that Python 3.11 reads."""
INLINE_BYTES = 64 << 10
"""Bytes of a leaf that stays within the pickle: a file of its own costs milliseconds to store."""
MAX_STATE_BYTES = 256 << 20
"""Bytes of all values of an execution: half the memory of an interactive cell."""
_ESTIMATOR_PACKAGES = ("sklearn", "xgboost")


@dataclass
class Parts:
    """Files of large leaves by name. `size_bytes`: of all values so far. `encoded`: leaves by identity."""

    files: dict[str, bytes] = field(default_factory=dict)
    size_bytes: int = 0
    encoded: dict[int, tuple[object, tuple[Any, ...]]] = field(default_factory=dict)

    def add(self, data: bytes, suffix: str) -> tuple[str | None, bytes | None]:
        """Return the name of the part, or the bytes of a small leaf. Raises NotKept over the limit."""
        self.count(len(data))
        if len(data) <= INLINE_BYTES:
            return None, data
        name = f"part-{hashlib.sha256(data).hexdigest()}.{suffix}"
        self.files[name] = data
        return name, None

    def count(self, size_bytes: int) -> None:
        if self.size_bytes + size_bytes > MAX_STATE_BYTES:
            raise NotKept(
                f"{size_bytes >> 20} MB, more than is left of {MAX_STATE_BYTES >> 20} MB for variables"
            )
        self.size_bytes += size_bytes


class ValueWriter(pickle.Pickler):
    """Writes one pickle. `shared`: identities of what another name might share. `arrays`: those in it."""

    def __init__(self, sink: io.BytesIO, parts: Parts) -> None:
        super().__init__(sink, PROTOCOL)
        self.parts = parts
        self.part_names: set[str] = set()
        self.shared: set[int] = set()
        self.arrays: list[np.ndarray[Any, Any]] = []
        self._numbers: dict[int, int] = {}

    def persistent_id(self, value: Any) -> tuple[Any, ...] | None:
        kind = type(value)
        if kind in ATOMS:
            return None
        if kind in CONTAINERS:
            # Nobody can change a shared tuple, so it does not tie two names together; what it holds may.
            if kind is not tuple and kind is not frozenset:
                self.shared.add(id(value))
            return None
        encode = _find_encoder(value)
        if encode is None:
            return None
        self.shared.add(id(value))
        number = self._numbers.get(id(value))
        if number is not None:
            return "again", number
        self._numbers[id(value)] = number = len(self._numbers)
        encoded_before = self.parts.encoded.get(id(value))
        leaf = encoded_before[1] if encoded_before else encode(value, self)
        # The value is held with its leaf: once freed, its identity could become that of another object.
        self.parts.encoded[id(value)] = (value, leaf)
        self.part_names |= {part for part in leaf[1:2] if isinstance(part, str) and part.startswith("part-")}
        return leaf[0], number, *leaf[1:]

    def reducer_override(self, value: Any) -> Any:
        """Refuse what is no plain value: the stock pickler would name its class."""
        if isinstance(value, type):
            if is_plain(value):
                return NotImplemented
            raise NotKept(describe_kind(value))
        if not is_plain(type(value)):
            raise NotKept(describe_kind(value))
        return NotImplemented


def _find_encoder(value: Any) -> Callable[[Any, ValueWriter], tuple[Any, ...]] | None:
    for classes, encode in _ENCODERS:
        if isinstance(value, classes):
            return encode
    return None


def _encode_array(value: Any, writer: ValueWriter) -> tuple[Any, ...]:
    if type(value) is not np.ndarray:
        raise NotKept(describe_kind(value))
    if value.dtype.hasobject:
        if value.dtype != object:
            raise NotKept("an array of records that hold objects")
        # Its cells are written by this pickler, which judges each of them.
        return "objects", value.shape, value.ravel().tolist()
    writer.arrays.append(value)
    sink = io.BytesIO()
    # Without pickles: reading a part must not be able to run code.
    np.lib.format.write_array(sink, value, allow_pickle=False)
    return "array", *writer.parts.add(sink.getvalue(), "npy"), value.flags.writeable


def _encode_table(value: Any, writer: ValueWriter) -> tuple[Any, ...]:
    kind, frame, name = to_frame(value)
    data, restoration = encode_frame(frame)
    return kind, *writer.parts.add(data, "parquet"), restoration, name


def _encode_estimator(value: Any, writer: ValueWriter) -> tuple[Any, ...]:
    if type(value).__module__.partition(".")[0] not in _ESTIMATOR_PACKAGES:
        raise NotKept(describe_kind(value))
    try:
        data = skops.io.dumps(value)
        unknown = set(skops.io.get_untrusted_types(data=data)) - set(TREE_TYPES)
    except Exception as error:  # noqa: BLE001 - skops raises many classes for what it cannot write
        raise NotKept(f"a {type(value).__name__} that cannot be stored: {str(error)[:200]}") from None
    if unknown:
        raise NotKept(f"a {type(value).__name__} that holds {', '.join(sorted(unknown))[:200]}")
    return "estimator", *writer.parts.add(data, "skops")


def _encode_timestamp(value: Any, writer: ValueWriter) -> tuple[Any, ...]:
    zone = value.tzinfo
    return "timestamp", int(value.asm8.view("i8")), value.unit, zone


_ENCODERS: tuple[tuple[tuple[type, ...], Callable[[Any, ValueWriter], tuple[Any, ...]]], ...] = (
    ((np.ndarray,), _encode_array),
    (TABLE_CLASSES, _encode_table),
    ((BaseEstimator,), _encode_estimator),
    ((type(pd.NaT),), lambda value, writer: ("nat",)),
    ((type(pd.NA),), lambda value, writer: ("na",)),
    ((pd.Timestamp,), _encode_timestamp),
    ((pd.Timedelta,), lambda value, writer: ("timedelta", int(value.asm8.view("i8")), value.unit)),
    ((np.generic,), lambda value, writer: ("scalar", *_encode_scalar(value))),
    ((np.dtype,), lambda value, writer: ("dtype", _dtype_text(value))),
    ((zoneinfo.ZoneInfo,), lambda value, writer: ("zone", _zone_key(value))),
)


def _encode_scalar(value: Any) -> tuple[str, bytes]:
    return _dtype_text(value.dtype), value.tobytes()


def _dtype_text(dtype: Any) -> str:
    if dtype.hasobject or dtype.fields:
        raise NotKept(f"a value of the type {dtype}")
    return str(dtype.str)


def _zone_key(zone: zoneinfo.ZoneInfo) -> str:
    if zone.key is None:
        raise NotKept("a time zone without a name")
    return zone.key


class ValueReader(pickle.Unpickler):
    """Reads one pickle. `read_part`: the bytes of a part by its name."""

    def __init__(self, data: bytes, read_part: Callable[[str], bytes]) -> None:
        super().__init__(io.BytesIO(data))
        self._read_part = read_part
        self._leaves: dict[int, Any] = {}

    def find_class(self, module: str, name: str) -> Any:
        try:
            return find_plain(module, name)
        except LookupError:
            raise pickle.UnpicklingError(f"The class {module}.{name} is not read.") from None

    def persistent_load(self, leaf: Any) -> Any:
        kind, number, *rest = leaf
        if kind == "again":
            return self._leaves[number]
        value = self._leaves[number] = self._decode(kind, rest)
        return value

    def _decode(self, kind: str, rest: list[Any]) -> Any:
        match kind:
            case "array":
                array = np.lib.format.read_array(io.BytesIO(self._read(*rest[:2])), allow_pickle=False)
                array.flags.writeable = bool(rest[2])
                return array
            case "frame" | "series" | "index" | "extension":
                return from_frame(kind, decode_frame(self._read(*rest[:2]), rest[2]), rest[3])
            case "estimator":
                return skops.io.loads(self._read(*rest), trusted=list(TREE_TYPES))
            case _:
                decode = _DECODERS.get(kind) or _refuse_leaf
                return decode(*rest)

    def _read(self, part: str | None, data: bytes | None) -> bytes:
        return self._read_part(part) if part is not None else data or b""


def _refuse_leaf(*_: Any) -> NoReturn:
    raise pickle.UnpicklingError("A value of an unknown kind is not read.")


def _decode_objects(shape: tuple[int, ...], values: list[Any]) -> Any:
    # `np.array` would turn lists of equal length into a second axis.
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array.reshape(shape)


_DECODERS: Mapping[str, Callable[..., Any]] = {
    "objects": _decode_objects,
    "nat": lambda: pd.NaT,
    "na": lambda: pd.NA,
    "timestamp": lambda value, unit, zone: _decode_timestamp(value, unit, zone),
    "timedelta": lambda value, unit: pd.Timedelta(np.timedelta64(value, unit)),
    "scalar": lambda dtype, data: np.frombuffer(data, dtype=np.dtype(dtype))[0],
    "dtype": np.dtype,
    "zone": zoneinfo.ZoneInfo,
}


def _decode_timestamp(value: int, unit: Any, zone: Any) -> pd.Timestamp:
    stamp = pd.Timestamp(np.datetime64(value, unit))
    return stamp if zone is None else stamp.tz_localize("UTC").tz_convert(zone)


def write_value(value: object, parts: Parts) -> tuple[bytes, ValueWriter]:
    """Write a value. Raises NotKept."""
    sink = io.BytesIO()
    writer = ValueWriter(sink, parts)
    try:
        writer.dump(value)
    except NotKept:
        raise
    except RecursionError:
        raise NotKept("nested too deeply") from None
    except (pickle.PicklingError, TypeError, ValueError, AttributeError) as error:
        raise NotKept(f"cannot be stored: {str(error)[:200]}") from None
    data = sink.getvalue()
    parts.count(len(data))
    return data, writer
