"""Code that an agent wrote, as functions: run under a language that somebody above permits, or not at all."""

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
"""Source -> the names it defines, fresh each time; raises InvalidInput `code_not_allowed`."""

FILENAME = "<code>"
"""What the language calls the source in tracebacks."""

_define: ContextVar[Interpreter | None] = ContextVar("define", default=None)


@contextmanager
def allow_code(define: Interpreter) -> Iterator[None]:
    """Let code run in this block: a cell of untrusted work does, and a person who does a session again."""
    token = _define.set(define)
    try:
        yield
    finally:
        _define.reset(token)


@dataclass(frozen=True)
class CodeFunctions:
    """The functions of one source. Made anew for each use, so that nothing is carried from one to the next."""

    name: str
    source: str

    @cached_property
    def _defined(self) -> Mapping[str, Any]:
        define = _define.get()
        if define is None:
            raise Unavailable(
                "code_needs_walls",
                f"{self.name!r} holds code that an agent wrote: it runs in cells of untrusted work only.",
            )
        with self._in_words("its definitions"):
            return define(self.source)

    def defines(self, function: str) -> bool:
        return callable(self._defined.get(function))

    def count_arguments(self, function: str) -> int:
        """How many arguments it takes; 0 for one that is not there."""
        return len(signature(self._defined[function]).parameters) if self.defines(function) else 0

    def require_function(self, function: str, why: str) -> None:
        if not self.defines(function):
            raise InvalidInput("code_incomplete", f"{self.name!r} must define `{function}`: {why}.")

    def call(self, function: str, *arguments: Any, seed: int = 0) -> Any:
        """What it returns of the arguments that it takes; raises InvalidInput `code_failed` with its line.

        The random numbers of numpy and Python start from `seed`.
        """
        np.random.seed(seed)
        random.seed(seed)
        taken = arguments[: self.count_arguments(function)]
        with self._in_words(f"`{function}`"):
            return self._defined[function](*taken)

    @contextmanager
    def _in_words(self, what: str) -> Iterator[None]:
        try:
            yield
        except (LabError, MemoryError):
            raise
        except (Exception, SystemExit) as error:
            said = f"{type(error).__name__}: {error}"[:600]
            raise InvalidInput(
                "code_failed", f"{self.name!r} failed in {what}{_place(error)}: {said}", name=self.name
            ) from error


def _place(error: BaseException) -> str:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == FILENAME]
    return f" on line {lines[-1]}" if lines else ""
