"""Stand-ins for `logging`, whose own handlers open files and sockets and whose formats read attributes."""

import logging
import sys
from collections.abc import Callable
from typing import Any

_DEFAULT_FORMAT = "%(levelname)s:%(name)s:%(message)s"
_FORMAT_FIELDS = ("levelname", "name", "message", "asctime", "levelno")


class _Output:
    """Format and least level of all loggers of the process, which serves one program."""

    format = _DEFAULT_FORMAT
    level = logging.WARNING


class Logger:
    """A logger that writes lines to the program's errors."""

    __slots__ = ("_level", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self._level: int | None = None

    def log(self, level: int, message: object, *values: object, exc_info: object = None, **_: object) -> None:
        """Write the message, in which `%` takes the values, if its level is high enough."""
        if not self.isEnabledFor(level):
            return
        text = (
            str(message) % (values[0] if len(values) == 1 and isinstance(values[0], dict) else values)
            if values
            else str(message)
        )
        fields = dict.fromkeys(_FORMAT_FIELDS, "") | {
            "levelname": logging.getLevelName(level),
            "name": self.name,
            "message": text,
            "levelno": level,
        }
        sys.stderr.write(f"{_Output.format % fields}\n")
        error = sys.exception()
        if exc_info and error is not None:
            sys.stderr.write(f"{type(error).__name__}: {error}\n")

    def isEnabledFor(self, level: int) -> bool:
        return level >= self.getEffectiveLevel()

    def getEffectiveLevel(self) -> int:
        return _Output.level if self._level is None else self._level

    def setLevel(self, level: int | str) -> None:
        self._level = _level_of(level)

    def exception(self, message: object, *values: object, **options: object) -> None:
        self.log(logging.ERROR, message, *values, exc_info=True)


def _method_of_level(level: int) -> Callable[..., None]:
    def write(self: Logger, message: object, *values: object, **options: Any) -> None:
        self.log(level, message, *values, **options)

    return write


_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
}
"""Levels that have a method of their name."""

for _name, _level in _LEVELS.items():
    setattr(Logger, _name, _method_of_level(_level))
Logger.__module__ = "types"


def _level_of(level: int | str) -> int:
    number = level if isinstance(level, int) else logging.getLevelName(level)
    if not isinstance(number, int):
        raise ValueError(f"unknown level: {level!r}")
    return number


def _configure(*, format: str = _DEFAULT_FORMAT, level: int | str | None = None, **options: object) -> None:
    """Replace `basicConfig`. Raises TypeError for options that would write elsewhere, or format otherwise."""
    unknown = options.keys() - {"datefmt", "force", "stream"}
    if unknown:
        raise TypeError(f"basicConfig takes only format and level here, not {', '.join(sorted(unknown))}")
    _Output.format = str.__str__(format)
    if level is not None:
        _Output.level = _level_of(level)


_loggers: dict[str, Logger] = {}


def _logger(name: str = "root") -> Logger:
    return _loggers.setdefault(str(name), Logger(str(name)))


def _root_method(name: str) -> Callable[..., None]:
    def write(message: object, *values: object, **options: Any) -> None:
        getattr(_logger(), name)(message, *values, **options)

    return write


LOGGING_FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    logging.basicConfig: _configure,
    logging.getLogger: _logger,
    **{getattr(logging, name): _root_method(name) for name in ("exception", "log", *_LEVELS)},
}
"""Substitutes by the original."""
