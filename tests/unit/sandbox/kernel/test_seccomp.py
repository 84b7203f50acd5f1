"""The filter, run by a small interpreter of classic BPF: what it answers, without a kernel."""

import errno
import os
import struct

import pytest

from app.sandbox.kernel import seccomp
from app.sandbox.kernel.syscalls import ALLOWED, AUDIT_ARCHITECTURES, CONDITIONAL, MACHINE

PID = 4_242
PROGRAM = seccomp.make_filter(PID)
EPERM = 0x00050000 | errno.EPERM
ENOSYS = 0x00050000 | errno.ENOSYS


def answer(number: int, *arguments: int, architecture: int = AUDIT_ARCHITECTURES[MACHINE]) -> int:
    padded = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("IIQ6Q", number, architecture, 0, *padded)
    at = accumulator = 0
    while True:
        operation, if_true, if_false, operand = struct.unpack_from("HBBI", PROGRAM, 8 * at)
        at += 1
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("I", data, operand)
        elif operation == 0x54:
            accumulator &= operand
        elif operation == 0x15:
            at += if_true if accumulator == operand else if_false
        elif operation == 0x35:
            at += if_true if accumulator >= operand else if_false
        else:
            return operand


@pytest.mark.parametrize("call", sorted(ALLOWED))
def test_every_listed_call_is_allowed(call: str) -> None:
    assert answer(ALLOWED[call]) == seccomp.ALLOW


# Sockets, processes, owners, modes, links, mounts, other processes' memory, keys, kernel programs.
UNLISTED = """
    41 42 49 53 57 58 59 62 76 86 88 90 92 99 101 105 125 133 140 165 169 200 252 272
    274 279 312 315 298 308 310 319 321 322 323 425 434
    424 438 9999
"""


@pytest.mark.skipif(MACHINE != "x86_64", reason="numbers of x86_64")
@pytest.mark.parametrize("number", [int(word) for word in UNLISTED.split()])
def test_a_call_that_is_not_listed_is_denied(number: int) -> None:
    assert answer(number) == EPERM


def test_another_architecture_or_number_space_is_killed() -> None:
    assert answer(0, architecture=0x40000003) == seccomp.KILL
    assert answer(seccomp.X32 + 57) == seccomp.KILL


def test_threads_are_allowed_and_processes_are_denied() -> None:
    assert answer(CONDITIONAL["clone"], 0x3D0F00) == seccomp.ALLOW
    assert answer(CONDITIONAL["clone"], 0x11) == EPERM
    assert answer(CONDITIONAL["clone3"]) == ENOSYS


def test_threads_share_one_table_of_descriptors() -> None:
    without_files, unshared = 0x3D0B00, 2
    assert answer(CONDITIONAL["clone"], without_files) == EPERM
    assert answer(CONDITIONAL["close_range"], 3, 9, 0) == seccomp.ALLOW
    assert answer(CONDITIONAL["close_range"], 3, 9, unshared) == EPERM
    assert answer(CONDITIONAL["close_range"], 3, 9, unshared | 4) == EPERM


def test_no_signal_ends_a_process_as_if_from_outside() -> None:
    assert answer(CONDITIONAL["kill"], PID, 9) == EPERM
    assert answer(CONDITIONAL["tgkill"], PID, PID, 9) == EPERM
    assert answer(CONDITIONAL["tgkill"], PID, PID, 9 | 1 << 32) == EPERM


def test_queries_about_other_processes_are_denied() -> None:
    for call in seccomp.PROCESS_QUERIES:
        for own in (0, PID):
            assert answer(CONDITIONAL[call], own) == seccomp.ALLOW
        for other in (1, PID + 1, 0xFFFFFFFF):
            assert answer(CONDITIONAL[call], other) == EPERM


@pytest.mark.parametrize("call", ["clock_gettime", "clock_getres", "clock_nanosleep"])
def test_clocks_of_other_processes_are_not_read(call: str) -> None:
    of_processes = [(~pid << 3 | kind) & 0xFFFFFFFF for pid in (1, PID + 1) for kind in (0, 1, 2, 3, 6)]
    own_process, own_thread = -6 & 0xFFFFFFFF, -2 & 0xFFFFFFFF
    for clock in (0, 1, 2, 3, 4, 7, 11, own_process, own_thread):
        assert answer(CONDITIONAL[call], clock) == seccomp.ALLOW
    for clock in (*of_processes, 16, 0x80000000):
        assert answer(CONDITIONAL[call], clock) == EPERM


def test_a_lock_names_no_other_process() -> None:
    private, realtime = 128, 256
    for command in (0, 1, 3, 4, 5, 9, 10):
        assert answer(CONDITIONAL["futex"], 0, command | private | realtime) == seccomp.ALLOW
    for command in (6, 7, 8, 11, 12, 13):
        assert answer(CONDITIONAL["futex"], 0, command | private) == ENOSYS


def test_unnamed_files_and_reserved_space_are_denied() -> None:
    unnamed, missing = os.O_TMPFILE | os.O_RDWR, 0x00050000 | errno.EOPNOTSUPP
    assert answer(CONDITIONAL["openat"], 0, 0, unnamed) == missing
    assert answer(CONDITIONAL["openat"], 0, 0, os.O_RDONLY | os.O_DIRECTORY) == seccomp.ALLOW
    for mode in (0, 1, 3):
        assert answer(CONDITIONAL["fallocate"], 3, mode, 0, 1 << 40) == missing


def test_signals_to_other_processes_are_denied() -> None:
    assert answer(CONDITIONAL["kill"], PID, 6) == seccomp.ALLOW
    for other in (1, PID + 1, 0, 0xFFFFFFFF):
        assert answer(CONDITIONAL["kill"], other, 9) == EPERM
        assert answer(CONDITIONAL["tgkill"], other, 1, 9) == EPERM


def test_requests_for_signals_from_the_kernel_are_denied() -> None:
    f_setown, f_setsig, f_getfl = 8, 10, 3
    assert answer(CONDITIONAL["fcntl"], 3, f_getfl) == seccomp.ALLOW
    assert answer(CONDITIONAL["fcntl"], 3, f_setown, 1) == EPERM
    assert answer(CONDITIONAL["fcntl"], 3, f_setsig, 9) == EPERM


def test_limits_are_read_and_not_set() -> None:
    assert answer(CONDITIONAL["prlimit64"], 0, 7, 0) == seccomp.ALLOW
    assert answer(CONDITIONAL["prlimit64"], PID, 7, 0) == seccomp.ALLOW
    assert answer(CONDITIONAL["prlimit64"], PID + 1, 7, 0) == EPERM
    assert answer(CONDITIONAL["prlimit64"], PID, 7, 0x1000) == EPERM
    assert answer(CONDITIONAL["prlimit64"], 0, 7, 0x1000) == EPERM
    assert answer(CONDITIONAL["prlimit64"], 0, 7, 0x1_0000_0000) == EPERM


def test_opening_for_reading_does_not_truncate() -> None:
    openat = CONDITIONAL["openat"]
    assert answer(openat, 0, 0, os.O_RDONLY) == seccomp.ALLOW
    assert answer(openat, 0, 0, os.O_WRONLY | os.O_TRUNC) == seccomp.ALLOW
    assert answer(openat, 0, 0, os.O_RDONLY | os.O_TRUNC) == EPERM


def test_input_to_terminals_is_denied() -> None:
    tiocsti, tcgets = 0x5412, 0x5401
    assert answer(CONDITIONAL["ioctl"], 0, tcgets) == seccomp.ALLOW
    assert answer(CONDITIONAL["ioctl"], 0, tiocsti) == EPERM


def test_shared_anonymous_memory_is_denied() -> None:
    private, shared, anonymous = 2, 1, 0x20
    assert answer(CONDITIONAL["mmap"], 0, 4_096, 3, private | anonymous) == seccomp.ALLOW
    assert answer(CONDITIONAL["mmap"], 0, 4_096, 3, shared) == seccomp.ALLOW
    assert answer(CONDITIONAL["mmap"], 0, 4_096, 3, shared | anonymous) == EPERM
