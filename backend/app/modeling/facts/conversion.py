"""Conversion between JSON facts and the dataclasses that code reads them as."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, TypeVar, get_type_hints

from pydantic import PlainSerializer, PlainValidator, TypeAdapter, ValidationError

from app.errors import InvalidInput
from app.modeling.problem.problem import Problem

Shape = TypeVar("Shape")
Result = TypeVar("Result")


def _read_problem(document: Problem | Mapping[str, Any]) -> Problem:
    return document if isinstance(document, Problem) else Problem.from_json(document)


ProblemFact = Annotated[Problem, PlainValidator(_read_problem), PlainSerializer(Problem.to_json)]
"""A problem inside other facts, with its own conversion to JSON and checks."""


def parse_facts(shape: type[Shape], document: object) -> Shape:
    """Read JSON facts as a dataclass. Unknown keys are ignored: stored facts may come from other versions.

    Raises InvalidInput `bad_facts` with the place and reason of each fault.
    """
    try:
        value: Shape = _adapter(shape).validate_python(document)  # type: ignore[arg-type]  # types are hashable
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"
            for fault in error.errors(include_url=False, include_input=False)
        )
        name = getattr(shape, "__name__", str(shape))  # a parameter may be a union, which has no name
        raise InvalidInput("bad_facts", f"These facts are not a valid {name}: {faults}.") from error
    return value


def call_with_facts(function: Callable[..., Result], arguments: Mapping[str, Any]) -> Result:
    """Call a function with JSON arguments, each read as the type of its parameter.

    Raises InvalidInput `bad_facts`.
    """
    hints = get_type_hints(function)
    return function(**{name: parse_facts(hints[name], value) for name, value in arguments.items()})


def dump_facts(value: Any) -> dict[str, Any]:
    """Convert a dataclass to the JSON that `parse_facts` reads."""
    document: dict[str, Any] = _adapter(type(value)).dump_python(  # type: ignore[arg-type]  # types are hashable
        value, mode="json", by_alias=True
    )
    return document


@cache
def _adapter(shape: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(shape)
