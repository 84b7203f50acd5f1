"""A small file system for blobs, which can be filled without filling a disk of anybody else."""

import ctypes
import os
import shutil
from contextlib import suppress
from pathlib import Path

# Flags of unshare(2), mount(2) and umount2(2).
_NEWNS, _NEWUSER = 0x00020000, 0x10000000
_RECURSIVE, _PRIVATE = 0x4000, 1 << 18
_DETACH = 2

SIZE_BYTES = 512 << 20
"""More than all sessions leave: it must be full only while it is filled."""
_WRITE_BYTES = 1 << 20

_libc = ctypes.CDLL(None, use_errno=True)


def enter_own_mounts() -> str:
    """Leave the host's mounts, before any thread starts. Return the reason where that is refused, else ''."""
    uid, gid = os.getuid(), os.getgid()
    if uid == 0:
        refused = _libc.unshare(_NEWNS)
    else:
        refused = _libc.unshare(_NEWUSER | _NEWNS)
        if not refused:
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
            Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    if refused or _libc.mount(b"none", b"/", None, _RECURSIVE | _PRIVATE, None):
        return os.strerror(ctypes.get_errno())
    return ""


def mount_small_disk(folder: Path) -> str:
    """Mount the file system on `folder`, for this process and its children, until the last of them ends.

    Return the reason where that is refused, else ''.
    """
    options = f"size={SIZE_BYTES},mode=700".encode()
    if _libc.mount(b"none", bytes(folder), b"tmpfs", 0, options):
        return os.strerror(ctypes.get_errno())
    return ""


def remove(folder: Path) -> None:
    """Remove a folder with everything in it, and the file system that `mount_small_disk` made in it."""
    _libc.umount2(bytes(folder / "blobs"), _DETACH)
    shutil.rmtree(folder, ignore_errors=True)


def fill(folder: Path) -> Path:
    """Leave no byte free, and return the file that takes all of them."""
    ballast = folder / ".ballast"
    with ballast.open("ab", buffering=0) as file, suppress(OSError):
        while file.write(bytes(_WRITE_BYTES)) == _WRITE_BYTES:
            continue
        while file.write(b"0"):
            continue
    return ballast
