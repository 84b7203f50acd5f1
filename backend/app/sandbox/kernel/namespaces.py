"""Namespaces of cells, where the kernel allows them: no network, no other process, no other file.

The zygote enters network, ipc and mount namespaces once; each cell gets its own process and mount namespaces
and a root that holds its interpreter and inputs, read-only, and its output folder.
"""

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path

from app.sandbox.kernel.calls import check_result, die_with_parent, setns, syscall, unshare
from app.sandbox.kernel.syscalls import SETUP

# Kinds of namespaces, from <linux/sched.h>.
NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000

# From <linux/fcntl.h> and <linux/mount.h>: AT_FDCWD, AT_EMPTY_PATH, AT_RECURSIVE, OPEN_TREE_CLONE and
# OPEN_TREE_CLOEXEC; MOUNT_ATTR_*; MS_PRIVATE; FSCONFIG_SET_STRING and FSCONFIG_CMD_CREATE; MNT_DETACH.
_AT_FDCWD = -100
_EMPTY_PATH, _RECURSIVE, _CLONE, _CLOEXEC = 0x1000, 0x8000, 1, 0o2000000
_READ_ONLY, _NOSUID, _NODEV, _NOEXEC = 1, 2, 4, 8
_PRIVATE = 1 << 18
_SET_STRING, _CREATE = 1, 6
_DETACH = 2

# The new root is built where the host has /proc: a folder that every host has, and below which no input or
# interpreter lies, so that mounting over it hides nothing that has still to be cloned.
_NEW_ROOT = Path("/proc")
_OLD_ROOT = ".old"

_MAX_DESCRIPTOR = 4_096
"""Above any descriptor that a zygote has open when it starts."""
_MAX_ROOT_BYTES = 1 << 20
"""A cell's root holds mount points only; its files are other mounts."""
_MAX_ROOT_INODES = 2_000
"""Mount points of the interpreter and the inputs of one request, with their parents."""

_libc = ctypes.CDLL(None, use_errno=True)


def enter_namespaces() -> int:
    """Leave the host's network, ipc, processes and mounts: once, in the zygote, with a single thread.

    Returns, in the first process of the new namespaces, a descriptor of its /proc. The calling process stays
    outside, waits for the first one and exits as that does.
    """
    uid, gid = os.getuid(), os.getgid()
    # Root needs no user namespace to make the others.
    user = 0 if uid == 0 else NEWUSER
    unshare(user | NEWNS | NEWNET | NEWIPC | NEWUTS | NEWCGROUP | NEWPID)
    if user:
        # The kernel takes a gid map of an unprivileged process only after setgroups is denied.
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    # unshare(NEWPID) moves children only: the first child is process 1 of the new namespace.
    first_pid = os.fork()
    if first_pid:
        os.closerange(3, _MAX_DESCRIPTOR)
        _, status = os.waitpid(first_pid, 0)
        os._exit(abs(os.waitstatus_to_exitcode(status)))
    die_with_parent(0)  # the parent is outside the namespace, where its pid shows as 0
    # Private, so that no mount of a cell spreads to the host.
    _set_mount_attributes(_AT_FDCWD, "/", 0, _RECURSIVE, propagation=_PRIVATE)
    return _create_filesystem(b"proc", {}, _NOSUID | _NODEV | _NOEXEC)


def fork_first_process(own_pidfd: int) -> int:
    """Fork the first process of a new process namespace; `own_pidfd`: a pidfd of this process."""
    unshare(NEWPID)
    pid = os.fork()
    if pid:
        # Back to the own namespace: after unshare all later children would be born into the new one, which
        # takes no process any more once its first has ended. A pidfd works without a mounted /proc.
        setns(own_pidfd, NEWPID)
    return pid


def create_bounded_filesystem(size_bytes: int, inodes: int) -> int:
    """Return a descriptor of a new filesystem in memory, bounded in bytes and files."""
    options = {b"size": b"%d" % size_bytes, b"nr_inodes": b"%d" % inodes, b"mode": b"700"}
    return _create_filesystem(b"tmpfs", options, _NOSUID | _NODEV | _NOEXEC)


def prepare_root(readable: Iterable[Path]) -> None:
    """Build a new root of `readable`, in a cell that has no request yet."""
    unshare(NEWNS)
    _attach_mount(create_bounded_filesystem(_MAX_ROOT_BYTES, _MAX_ROOT_INODES), _NEW_ROOT)
    _mount_read_only(readable)
    (_NEW_ROOT / _OLD_ROOT).mkdir()


def enter_root(readable: Iterable[Path], output: Path, folder: int | None) -> None:
    """Add inputs and the output folder to the new root, enter it and drop the old one.

    `folder`: the filesystem to mount as `output`; None: the host's folder of that path.
    """
    _mount_read_only(readable)
    tree = folder if folder is not None else _clone_mounts(output, _NOSUID | _NODEV | _NOEXEC)
    _attach_mount(tree, _make_mount_point(output, output.is_dir()))
    syscall(SETUP.pivot_root, bytes(_NEW_ROOT), bytes(_NEW_ROOT / _OLD_ROOT), name="pivot_root")
    os.chdir("/")
    # Lazily, since open descriptors of this process still lie in the old root.
    check_result(_libc.umount2(bytes(Path("/", _OLD_ROOT)), _DETACH), "umount of the old root")
    Path("/", _OLD_ROOT).rmdir()
    # Last: until here mount points had to be made in it.
    _set_mount_attributes(_AT_FDCWD, "/", _READ_ONLY)


def _mount_read_only(readable: Iterable[Path]) -> None:
    for path in sorted(readable):  # parents first
        if path.exists():
            _attach_mount(_clone_mounts(path, _READ_ONLY | _NOSUID), _make_mount_point(path, path.is_dir()))


def _clone_mounts(path: Path, attributes: int) -> int:
    """Return a descriptor of a detached copy of the mounts at `path`, restricted by `attributes`."""
    flags = _CLONE | _RECURSIVE | _CLOEXEC
    tree = syscall(SETUP.open_tree, _AT_FDCWD, bytes(path), flags, name=f"open_tree {path}")
    _set_mount_attributes(tree, "", attributes, _EMPTY_PATH | _RECURSIVE)
    return tree


def _make_mount_point(path: Path, is_folder: bool) -> Path:
    mount_point = _NEW_ROOT / path.relative_to("/")
    if mount_point.exists():  # below a tree that is mounted already: read-only, so nothing can be made there
        return mount_point
    if is_folder:
        mount_point.mkdir(parents=True)
    else:
        mount_point.parent.mkdir(parents=True, exist_ok=True)
        mount_point.touch()
    return mount_point


def _attach_mount(tree: int, mount_point: Path) -> None:
    from_empty_path = 4
    syscall(
        SETUP.move_mount,
        tree,
        b"",
        _AT_FDCWD,
        bytes(mount_point),
        from_empty_path,
        name=f"move_mount {mount_point}",
    )
    os.close(tree)


def _set_mount_attributes(at: int, path: str, restrict: int, flags: int = 0, propagation: int = 0) -> None:
    attributes = (ctypes.c_uint64 * 4)(restrict, 0, propagation, 0)
    syscall(
        SETUP.mount_setattr,
        at,
        path.encode(),
        flags,
        attributes,
        ctypes.c_size_t(32),
        name=f"mount_setattr {path}",
    )


def _create_filesystem(kind: bytes, options: dict[bytes, bytes], attributes: int) -> int:
    """Return a descriptor of a new filesystem that is mounted nowhere yet."""
    close_on_exec = 1
    context = syscall(SETUP.fsopen, kind, close_on_exec, name=f"fsopen {kind!r}")
    for key, value in options.items():
        syscall(SETUP.fsconfig, context, _SET_STRING, key, value, 0, name=f"fsconfig {key!r}")
    syscall(SETUP.fsconfig, context, _CREATE, None, None, 0, name=f"fsconfig of {kind!r}")
    mount = syscall(SETUP.fsmount, context, close_on_exec, attributes, name=f"fsmount {kind!r}")
    os.close(context)
    return mount
