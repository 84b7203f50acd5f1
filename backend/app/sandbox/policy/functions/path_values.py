"""Paths as values: `pathlib` and `os.path` over text, and over the files beside the program alone."""

import os
import pathlib
from collections.abc import Callable
from typing import Any

from app.sandbox.policy.audit_hook import is_in_folder
from app.sandbox.policy.guards.access import relative_open
from app.sandbox.policy.names.text_guards import plain_str
from app.sandbox.policy.values.final_classes import final


def _text_of(part: object) -> str:
    """Return a part of a path as plain text: a text of a program's class could change after it was judged."""
    if isinstance(part, Path):
        return plain_str(str(part))
    if not isinstance(part, str):
        raise TypeError(f"a path is made of texts here, not of a {type(part).__name__!r}")
    return plain_str(part)


@final
class Path(pathlib.PurePosixPath):
    """Stand-in for `pathlib.Path`: a value, which opens what `open` does.

    A class that derives from it could change its text after that was judged.
    """

    __slots__ = ()

    def __new__(cls, *parts: object) -> "Path":
        return super().__new__(cls, *map(_text_of, parts))

    def joinpath(self, *parts: object) -> "Path":
        return Path(self, *parts)

    def __truediv__(self, part: object) -> "Path":
        return Path(self, part)

    def __rtruediv__(self, part: object) -> "Path":
        return Path(part, self)

    def exists(self) -> bool:
        """Return True for a file or folder beside the program."""
        return _exists(self)

    def open(self, mode: str = "r", **options: Any) -> Any:
        return relative_open(str(self), mode, **options)

    def read_text(self, encoding: str = "utf-8") -> str:
        with self.open(encoding=encoding) as file:
            return str(file.read())

    def write_text(self, text: str, encoding: str = "utf-8") -> int:
        with self.open("w", encoding=encoding) as file:
            return int(file.write(text))

    def read_bytes(self) -> bytes:
        with self.open("rb") as file:
            return bytes(file.read())

    def write_bytes(self, data: bytes) -> int:
        with self.open("wb") as file:
            return int(file.write(data))


Path.__module__ = "types"


def _beside_program(path: object) -> str:
    text = _text_of(path)
    if not is_in_folder(text):
        raise PermissionError("only files beside the program can be looked at here: use a plain file name")
    return text


def _exists(path: object) -> bool:
    return os.path.exists(_beside_program(path))  # noqa: PTH110 (text of a program, judged as such)


def _is_file(path: object) -> bool:
    return os.path.isfile(_beside_program(path))  # noqa: PTH113 (the same)


def _list_folder(path: object = ".") -> list[str]:
    return os.listdir(_beside_program(path))  # noqa: PTH208 (the same)


def _on_texts(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*parts: object) -> Any:
        return function(*map(_text_of, parts))

    return call


def _count_processors() -> int | None:
    """Replace `os.cpu_count`, since functions of `os` are not held."""
    return os.cpu_count()


PATH_FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    **dict.fromkeys((pathlib.Path, pathlib.PurePath, pathlib.PurePosixPath), Path),
    os.cpu_count: _count_processors,
    os.listdir: _list_folder,
    os.path.exists: _exists,
    os.path.isfile: _is_file,
    **{
        getattr(os.path, name): _on_texts(getattr(os.path, name))
        for name in ("basename", "dirname", "isabs", "join", "normpath", "split", "splitext")
    },
}
"""Substitutes by the original."""
