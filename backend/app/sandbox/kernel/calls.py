"""The few Linux calls that Python 3.11 does not have, by ctypes. Each raises OSError with its own name."""

import ctypes
import os
import struct

from app.sandbox.kernel.syscalls import SETUP

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
MADV_COLLAPSE = 25
LARGE_PAGE_BYTES = 2 << 20


def check_result(result: int, what: str) -> int:
    """`result`, or the OSError that errno names."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def syscall(number: int, *args: object, what: str) -> int:
    return check_result(_libc.syscall(ctypes.c_long(number), *args), what)


def prctl(option: int, value: int = 0) -> None:
    check_result(_libc.prctl(option, *map(ctypes.c_ulong, (value, 0, 0, 0))), f"prctl {option}")


def die_with_parent(parent: int) -> None:
    """SIGKILL for this process as soon as its parent ends, for whatever reason."""
    prctl(PR_SET_PDEATHSIG, 9)
    if os.getppid() != parent:  # it ended before we asked
        os._exit(1)


def unshare(flags: int) -> None:
    check_result(_libc.unshare(flags), "unshare")


def setns(descriptor: int, kind: int) -> None:
    check_result(_libc.setns(descriptor, kind), "setns")


def forbid_new_privileges() -> None:
    """Whatever this process will run gives it no privilege that it does not have now."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    for capability in range(64):
        if _libc.prctl(PR_CAPBSET_DROP, *map(ctypes.c_ulong, (capability, 0, 0, 0))) < 0:
            break  # past the last one, or not ours to drop: then we have none
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)


def drop_capabilities() -> None:
    """Give up every privilege of root, for good."""
    version_3 = struct.pack("Ii", 0x20080522, 0)
    syscall(SETUP["capset"], version_3, bytes(24), what="capset")


def collapse_pages(start: int, end: int) -> None:
    """Ask for large pages in a range of our memory; where the kernel will not, no harm is done."""
    for address in range(
        -(-start // LARGE_PAGE_BYTES) * LARGE_PAGE_BYTES, end - LARGE_PAGE_BYTES + 1, LARGE_PAGE_BYTES
    ):
        _libc.madvise(ctypes.c_void_p(address), ctypes.c_size_t(LARGE_PAGE_BYTES), MADV_COLLAPSE)
