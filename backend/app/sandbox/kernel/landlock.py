"""Landlock rules of a cell: it reads some trees, writes one, and reaches no other file."""

import ctypes
import os
import stat
import struct
from collections.abc import Iterable
from pathlib import Path

from app.sandbox.kernel.calls import syscall
from app.sandbox.kernel.syscalls import SETUP

# Rights, from <linux/landlock.h>.
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15

READ = _READ_FILE | _READ_DIR
READ_BY_NAME = _READ_FILE
"""Read files below a folder by their names, without listing folders."""
ADD = READ | _WRITE_FILE | _MAKE_DIR | _MAKE_REG | _TRUNCATE
"""Read, make, write and shorten files below a folder; no file there is removed or renamed."""
WRITE = ADD | _REMOVE_DIR | _REMOVE_FILE | _REFER
"""All of ADD, and remove and rename files below a folder."""
_FILE_RIGHTS_MASK = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV

# Rights that each ABI added. A right that a ruleset handles is denied unless a rule grants it; a kernel refuses
# a ruleset with rights that it does not know, so only the available ones are handled.
_RIGHTS_BY_ABI = {1: (1 << 13) - 1, 2: _REFER, 3: _TRUNCATE, 5: _IOCTL_DEV}
_TCP_BY_ABI = {4: 0b11}  # bind and connect
_SCOPES_BY_ABI = {6: 0b11}  # abstract sockets and signals of others

# LANDLOCK_CREATE_RULESET_VERSION and LANDLOCK_RULE_PATH_BENEATH.
_VERSION_FLAG = 1
_PATH_BENEATH = 1


def abi() -> int:
    """Return the kernel's Landlock ABI; 0 where Landlock is missing or switched off."""
    try:
        return syscall(SETUP.landlock_create_ruleset, None, ctypes.c_size_t(0), _VERSION_FLAG, name="landlock")
    except OSError:
        return 0


class Ruleset:
    """Rights to files that a bound process keeps. A path that does not exist grants nothing."""

    def __init__(self) -> None:
        version = abi()
        self._handled = _available_rights(_RIGHTS_BY_ABI, version)
        attributes = struct.pack(
            "QQQ",
            self._handled,
            _available_rights(_TCP_BY_ABI, version),
            _available_rights(_SCOPES_BY_ABI, version),
        )
        # struct landlock_ruleset_attr grew with the ABI, and older kernels refuse set bytes beyond their own.
        size = 24 if version >= 6 else 16 if version >= 4 else 8
        self._ruleset = syscall(
            SETUP.landlock_create_ruleset, attributes, ctypes.c_size_t(size), 0, name="landlock"
        )

    def grant(self, rights: int, paths: Iterable[Path]) -> None:
        for path in paths:
            _add_rule(self._ruleset, path, rights & self._handled)

    def bind(self) -> None:
        """Bind this process, of one thread, for good; needs no_new_privs."""
        syscall(SETUP.landlock_restrict_self, self._ruleset, 0, name="landlock_restrict_self")
        os.close(self._ruleset)


def _available_rights(table: dict[int, int], version: int) -> int:
    rights = 0
    for since, bits in table.items():
        rights |= bits if version >= since else 0
    return rights


def _add_rule(ruleset: int, path: Path, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    # The kernel refuses a rule that grants a folder's rights on a file.
    if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
        rights &= _FILE_RIGHTS_MASK
    rule = struct.pack("=Qi", rights, descriptor)
    syscall(SETUP.landlock_add_rule, ruleset, _PATH_BENEATH, rule, 0, name=f"landlock rule {path}")
    os.close(descriptor)
