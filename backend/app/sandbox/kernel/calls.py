"""Linux calls that Python 3.11 lacks, by ctypes. Each raises an OSError whose message names the call."""

import ctypes
import os
import struct

from app.sandbox.kernel.syscalls import SETUP

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

# From <linux/prctl.h> and <asm-generic/mman-common.h>.
PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
MADV_COLLAPSE = 25
LARGE_PAGE_BYTES = 2 << 20
"""Size of a huge page on x86-64, and on aarch64 with pages of 4 KiB."""

_MAX_CAPABILITIES = 64
"""Bits of a capability set in the kernel's interface; Linux 6.18 defines 41 of them."""


def check_result(result: int, call: str) -> int:
    """Return `result`; raise the OSError of errno, naming `call`, where it is negative."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
    return result


def syscall(number: int, *args: object, name: str) -> int:
    """Make a system call that the C library may have no function for. Raises OSError."""
    return check_result(_libc.syscall(ctypes.c_long(number), *args), name)


def prctl(option: int, value: int = 0) -> None:
    check_result(_libc.prctl(option, *map(ctypes.c_ulong, (value, 0, 0, 0))), f"prctl {option}")


def die_with_parent(parent: int) -> None:
    """Let the kernel kill this process as soon as its parent ends, whatever ends it."""
    prctl(PR_SET_PDEATHSIG, 9)
    # The kernel signals at the parent's end only: a parent that ended before the call would never be noticed.
    if os.getppid() != parent:
        os._exit(1)


def unshare(flags: int) -> None:
    check_result(_libc.unshare(flags), "unshare")


def setns(descriptor: int, kind: int) -> None:
    check_result(_libc.setns(descriptor, kind), "setns")


def forbid_new_privileges() -> None:
    """Set no_new_privs, and empty the bounding and ambient sets: nothing run later gains a privilege."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    for capability in range(_MAX_CAPABILITIES):
        if _libc.prctl(PR_CAPBSET_DROP, *map(ctypes.c_ulong, (capability, 0, 0, 0))) < 0:
            break  # past the kernel's last capability, or without the privilege to drop one: then none is held
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)


def drop_capabilities() -> None:
    """Empty the effective, permitted and inheritable sets, for good."""
    # struct __user_cap_header_struct of version 3, then two zeroed __user_cap_data_structs of 12 bytes.
    version_3 = struct.pack("Ii", 0x20080522, 0)
    syscall(SETUP.capset, version_3, bytes(24), name="capset")


def collapse_pages(start: int, end: int) -> None:
    """Ask for large pages in a range of this process's memory; a kernel that refuses changes nothing."""
    for address in range(
        -(-start // LARGE_PAGE_BYTES) * LARGE_PAGE_BYTES, end - LARGE_PAGE_BYTES + 1, LARGE_PAGE_BYTES
    ):
        _libc.madvise(ctypes.c_void_p(address), ctypes.c_size_t(LARGE_PAGE_BYTES), MADV_COLLAPSE)
