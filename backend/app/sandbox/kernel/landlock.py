"""A cell's files: Landlock lets it read some trees, write one, and reach nothing else."""

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
"""Below such a folder, files can be read by whoever knows their names, and folders not listed."""
ADD = READ | _WRITE_FILE | _MAKE_DIR | _MAKE_REG | _TRUNCATE
"""Below such a folder, files are made, written and shortened, and each keeps its name and place for good."""
WRITE = ADD | _REMOVE_DIR | _REMOVE_FILE | _REFER
_FILE_RIGHTS_MASK = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV

# What each ABI can deny; handled rights are denied unless a rule grants them.
_RIGHTS_BY_ABI = {1: (1 << 13) - 1, 2: _REFER, 3: _TRUNCATE, 5: _IOCTL_DEV}
_TCP_BY_ABI = {4: 0b11}  # bind and connect
_SCOPES_BY_ABI = {6: 0b11}  # abstract sockets and signals of others

_VERSION_FLAG = 1
_PATH_BENEATH = 1


def abi() -> int:
    """The kernel's Landlock ABI; 0 where there is none."""
    try:
        return syscall(
            SETUP["landlock_create_ruleset"], None, ctypes.c_size_t(0), _VERSION_FLAG, what="landlock"
        )
    except OSError:
        return 0


class Ruleset:
    """What a process may still do with files once it is bound. Paths that do not exist grant nothing."""

    def __init__(self) -> None:
        version = abi()
        self._handled = _available_rights(_RIGHTS_BY_ABI, version)
        attributes = struct.pack(
            "QQQ",
            self._handled,
            _available_rights(_TCP_BY_ABI, version),
            _available_rights(_SCOPES_BY_ABI, version),
        )
        size = 24 if version >= 6 else 16 if version >= 4 else 8
        self._ruleset = syscall(
            SETUP["landlock_create_ruleset"], attributes, ctypes.c_size_t(size), 0, what="landlock"
        )

    def grant(self, rights: int, paths: Iterable[Path]) -> None:
        for path in paths:
            _add_rule(self._ruleset, path, rights & self._handled)

    def bind(self) -> None:
        """Bind this process, of one thread, for good; needs no_new_privs."""
        syscall(SETUP["landlock_restrict_self"], self._ruleset, 0, what="landlock_restrict_self")
        os.close(self._ruleset)


def _available_rights(table: dict[int, int], version: int) -> int:
    rights = 0
    for since, bits in table.items():
        rights |= bits if version >= since else 0
    return rights


def _add_rule(ruleset: int, path: Path, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(os.fstat(place).st_mode):
        rights &= _FILE_RIGHTS_MASK
    rule = struct.pack("=Qi", rights, place)
    syscall(SETUP["landlock_add_rule"], ruleset, _PATH_BENEATH, rule, 0, what=f"landlock rule {path}")
    os.close(place)
