"""Dataclasses made from recorded JSON, by their type hints."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from app.recorded_call import Json

Shape = TypeVar("Shape")
Result = TypeVar("Result")
KEY = "key"
"""Metadata of a field that has another name in JSON, such as `class`."""

_Load = Callable[[Json], Any]


class FieldMissing(ValueError):
    """The JSON lacks a field that its dataclass requires, or is no object."""


def from_json(shape: type[Shape], value: Json) -> Shape:
    """Return a JSON object as a dataclass.

    Fields whose types are dataclasses, sequences or mappings of them, or one of these and None, are loaded too;
    all other values are taken as they are. Unknown keys are ignored: a later version may have recorded more.
    Raises FieldMissing for a field without a value and without a default.
    """
    return cast(Shape, _object_loader(cast(Any, shape))(value))


def call_with_json(function: Callable[..., Result], arguments: Mapping[str, Json]) -> Result:
    """Call a function with JSON arguments, each loaded as its parameter's type says. Raises FieldMissing."""
    loaders = _parameter_loaders(function)
    return function(
        **{name: load(value) if (load := loaders.get(name)) else value for name, value in arguments.items()}
    )


@cache
def _parameter_loaders(function: Callable[..., Any]) -> Mapping[str, "_Load | None"]:
    return {name: _loader(hint) for name, hint in get_type_hints(function).items()}


@cache
def _object_loader(shape: type) -> _Load:
    hints = get_type_hints(shape)
    loaders = [
        (field.name, field.metadata.get(KEY, field.name), _loader(hints[field.name]), _is_required(field))
        for field in fields(shape)
    ]

    def load(value: Json) -> Any:
        if isinstance(value, shape):
            return value
        if not isinstance(value, Mapping):
            raise FieldMissing(f"{shape.__name__} is read from an object, not from {type(value).__name__}.")
        arguments = {}
        for name, key, load_field, required in loaders:
            if key in value:
                arguments[name] = load_field(value[key]) if load_field else value[key]
            elif required:
                raise FieldMissing(f"{shape.__name__} has no {key!r}.")
        return shape(**arguments)

    return load


def _is_required(field: Any) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


@cache
def _loader(hint: Any) -> _Load | None:
    """Return the conversion to a type, or None for a type that JSON has itself."""
    if is_dataclass(hint):
        return _object_loader(cast(type, hint))
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        loaders = [load for part in arguments if part is not NoneType and (load := _loader(part))]
        return _optional(loaders[0]) if loaders else None
    if origin is not None and issubclass(origin, Mapping):
        load = _loader(arguments[1])
        return (lambda value: {name: load(item) for name, item in value.items()}) if load else None
    if origin is not None and issubclass(origin, Sequence):
        load_item = _loader(arguments[0])
        return (lambda value: [load_item(item) for item in value]) if load_item else None
    return None


def _optional(load: _Load) -> _Load:
    return lambda value: None if value is None else load(value)
