"""Conversion between JSON facts and the dataclasses that code reads them as."""

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from app.errors import InvalidInput

Shape = TypeVar("Shape")


def parse_facts(shape: type[Shape], document: Mapping[str, Any] | object) -> Shape:
    """Read JSON facts as a dataclass. Unknown keys are ignored: stored facts may come from other versions.

    Raises InvalidInput `bad_facts` with the place and reason of each fault.
    """
    try:
        value: Shape = _adapter(shape).validate_python(document)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"
            for fault in error.errors(include_url=False, include_input=False)
        )
        raise InvalidInput("bad_facts", f"These facts are not a valid {shape.__name__}: {faults}.") from error
    return value


def dump_facts(value: Any) -> dict[str, Any]:
    """Convert a dataclass to the JSON that `parse_facts` reads."""
    document: dict[str, Any] = _adapter(type(value)).dump_python(value, mode="json", by_alias=True)
    return document


@cache
def _adapter(shape: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(shape)
