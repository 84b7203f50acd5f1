"""Functions of agent-written source code, run by an interpreter that the caller permits, or not at all."""

import random
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from app.errors import InvalidInput, LabError, Unavailable

Source = Annotated[str, Field(min_length=1, max_length=8_000)]
Interpreter = Callable[[str], Mapping[str, Any]]
"""Source -> new definitions of its names. Raises InvalidInput `code_not_allowed`."""

FILENAME = "<code>"
"""File name of the source in tracebacks."""

_interpreter: ContextVar[Interpreter | None] = ContextVar("interpreter", default=None)


@contextmanager
def allow_code(interpreter: Interpreter) -> Iterator[None]:
    """Permit code in this block: in a cell for untrusted work, or where a user reruns a session."""
    token = _interpreter.set(interpreter)
    try:
        yield
    finally:
        _interpreter.reset(token)


@dataclass(frozen=True)
class CodeFunctions:
    """The functions of one source. A new instance for each use, so that no state passes between uses."""

    name: str
    source: str

    @cached_property
    def _defined(self) -> Mapping[str, Any]:
        interpreter = _interpreter.get()
        if interpreter is None:
            raise Unavailable(
                "code_needs_isolation",
                f"{self.name!r} holds agent-written code, which runs only in cells for untrusted work.",
            )
        with self._translate_errors("its definitions"):
            return interpreter(self.source)

    def defines(self, function: str) -> bool:
        return callable(self._defined.get(function))

    def count_arguments(self, function: str) -> int:
        """Number of arguments of a function; 0 if it is not defined."""
        return len(signature(self._defined[function]).parameters) if self.defines(function) else 0

    def require_function(self, function: str, contract: str) -> None:
        if not self.defines(function):
            raise InvalidInput("code_incomplete", f"{self.name!r} must define `{function}`: {contract}.")

    def call(self, function: str, *arguments: Any, seed: int = 0) -> Any:
        """Call a function with as many of the arguments as it takes, and return its result.

        `seed` seeds numpy and Python. Raises InvalidInput `code_failed` with the line of the error.
        """
        # The global generators, which code without an argument for a seed draws from.
        np.random.seed(seed)
        random.seed(seed)
        accepted = arguments[: self.count_arguments(function)]
        with self._translate_errors(f"`{function}`"):
            return self._defined[function](*accepted)

    @contextmanager
    def _translate_errors(self, context: str) -> Iterator[None]:
        try:
            yield
        # Refusals of the interpreter keep their code, and a full memory is the cell's affair.
        except (LabError, MemoryError):
            raise
        except (Exception, SystemExit) as error:
            message = f"{type(error).__name__}: {error}"[:600]
            raise InvalidInput(
                "code_failed",
                f"{self.name!r} failed in {context}{_describe_line(error)}: {message}",
                name=self.name,
            ) from error


def _describe_line(error: BaseException) -> str:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == FILENAME]
    return f" on line {lines[-1]}" if lines else ""
