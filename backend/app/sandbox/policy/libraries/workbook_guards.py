"""Guards of openpyxl: no attribute named by text beyond its own, and no file but the workbook itself."""

from io import BytesIO
from types import ModuleType
from typing import Any
from zipfile import ZipFile

from app.sandbox.policy.audit_hook import program_on_stack
from app.sandbox.policy.names.text_guards import check_name
from app.sandbox.policy.values.objects import deny

_COLOR_KINDS = frozenset({"auto", "indexed", "rgb", "theme"})
"""Attributes that `Color.type` may name."""


def check_references(module: ModuleType) -> None:
    """Check `reference` of a BoundDictionary, an attribute that it sets on each of its values."""
    read = module.BoundDictionary.__getitem__

    def read_checked(self: Any, key: object) -> Any:
        if self.reference is not None and program_on_stack():
            check_name(self.reference)
        return read(self, key)

    module.BoundDictionary.__getitem__ = read_checked


def check_color_kinds(module: ModuleType) -> None:
    """Check `type` of a Color, the name of the attribute that its `value` reads and sets."""
    value = module.Color.value

    def check(color: Any) -> None:
        if color.type not in _COLOR_KINDS:
            raise AttributeError(f"{color.type!r} is no kind of colour: use one of {sorted(_COLOR_KINDS)}")

    def read(self: Any) -> Any:
        check(self)
        return value.fget(self)

    def write(self: Any, content: object) -> None:
        check(self)
        value.fset(self, content)

    module.Color.value = property(read, write)


def deny_proxy_copies(module: ModuleType) -> None:
    """Deny the deprecated `copy` of styles, which sets attributes of any name; `copy.copy` takes its place."""
    deny(module.StyleProxy.copy, "openpyxl.styles.proxy.StyleProxy.copy")


def write_sheets_to_memory(module: ModuleType) -> None:
    """Keep a sheet in memory until the workbook is saved: a cell can make files, and remove none."""
    setattr(module, "create_temporary_file", BytesIO)  # noqa: B010 (mypy knows no such name of a module)
    module.WorksheetWriter.cleanup = lambda self: None


def save_sheets_from_memory(module: ModuleType) -> None:
    setattr(module, "ZipFile", _WorkbookArchive)  # noqa: B010 (the same)


class _WorkbookArchive(ZipFile):
    """An archive that also takes the sheets of `write_sheets_to_memory` where it expects names of files."""

    def write(self, filename: Any, arcname: Any = None, *arguments: Any, **options: Any) -> None:
        if isinstance(filename, BytesIO):
            self.writestr(arcname, filename.getbuffer())
        else:
            super().write(filename, arcname, *arguments, **options)


WORKBOOK_FUNNELS = {
    "openpyxl.styles.colors": check_color_kinds,
    "openpyxl.styles.proxy": deny_proxy_copies,
    "openpyxl.utils.bound_dictionary": check_references,
    "openpyxl.worksheet._writer": write_sheets_to_memory,
    "openpyxl.writer.excel": save_sheets_from_memory,
}
"""Modules of openpyxl, and the guard of each."""
