"""System calls of a cell: an allow-list as a BPF program. A call that is not listed answers EPERM.

No allowed call opens a socket, starts a process, changes an owner, mode or limit, or touches another process.
"""

import ctypes
import errno
import struct
from collections.abc import Iterable
from dataclasses import dataclass

from app.sandbox.kernel.calls import syscall
from app.sandbox.kernel.syscalls import ALLOWED, AUDIT_ARCHITECTURES, CONDITIONAL, MACHINE, SETUP

# Instructions and results of classic BPF, from <linux/bpf_common.h> and <linux/seccomp.h>.
_LOAD, _AND, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
ALLOW = 0x7FFF0000
KILL = 0x80000000
_DENY = 0x00050000  # plus the errno

# Offsets in struct seccomp_data.
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16

# From the kernel's headers <asm/unistd.h>, <linux/sched.h>, <linux/close_range.h>, <asm-generic/mman-common.h>,
# <asm-generic/fcntl.h>, <asm-generic/ioctls.h>, <linux/prctl.h>, <linux/seccomp.h>, <linux/futex.h> and
# <linux/time.h>; alike on both architectures.
X32 = 0x40000000
CLONE_THREAD = 0x10F00
"""Flags of a new thread: shared memory, folder, descriptors and handlers (VM, FS, FILES, SIGHAND, THREAD)."""
CLOSE_RANGE_UNSHARE = 0x02
MAP_SHARED, MAP_ANONYMOUS = 0x01, 0x20
O_ACCMODE, O_TRUNC, O_UNNAMED = 0o3, 0o1000, 0o20000000
# Duplicating, flags and locks; not F_SETOWN or F_SETSIG, which make the kernel send signals to others.
FCNTL = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032)
TCGETS, TIOCGWINSZ, FIONBIO, FIOCLEX = 0x5401, 0x5413, 0x5421, 0x5451
PR_SET_NAME, PR_SET_VMA = 15, 0x53564D41
SECCOMP_SET_MODE_FILTER, FLAG_TSYNC = 1, 1
SIGKILL = 9
FUTEX_COMMAND = 0xFFFFFFFF & ~(128 | 256)
"""Mask of a futex operation without its flags FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME."""
FUTEX_INHERITING = (6, 7, 8, 11, 12, 13)
"""Operations of priority inheritance, whose word in memory can name a thread of any process."""
CLOCKS, CLOCK_OF_PROCESS, CLOCK_OF_THREAD = 0xFFFFFFF0, -6 & 0xFFFFFFFF, -2 & 0xFFFFFFFF
"""Mask of the clocks 0 to 15, and the caller's own; other negative numbers name any process."""


@dataclass(frozen=True)
class ArgumentTest:
    """Condition on one argument of 64 bits: masked by `mask`, it equals `value`."""

    argument: int
    value: int
    mask: int = 0xFFFFFFFF


@dataclass(frozen=True)
class Rule:
    """Filter `action` of a `call` for which all `tests` hold; without tests, of every such call."""

    call: str
    action: int
    tests: tuple[ArgumentTest, ...] = ()


def deny_action(number: int) -> int:
    return _DENY | number


def _deny_rule(call: str, *tests: ArgumentTest, number: int = errno.EPERM) -> Rule:
    return Rule(call, deny_action(number), tests)


def _allow_rule(call: str, *tests: ArgumentTest) -> Rule:
    return Rule(call, ALLOW, tests)


_OPENS = [(call, at) for call, at in (("open", 1), ("openat", 2)) if call in CONDITIONAL]
"""Calls that open files, with the position of their flags; aarch64 has no `open`."""
_POINTER = 0xFFFFFFFF_FFFFFFFF
"""Mask of a whole pointer: an address may differ from null in either half."""

RULES = [
    # Opening for reading must not truncate: Landlock before ABI 3 would not notice.
    *(_deny_rule(call, ArgumentTest(at, O_TRUNC, O_ACCMODE | O_TRUNC)) for call, at in _OPENS),
    # A file without a name is on the disk and in no folder, where supervision would count it.
    *(_deny_rule(call, ArgumentTest(at, O_UNNAMED, O_UNNAMED), number=errno.EOPNOTSUPP) for call, at in _OPENS),
    *(_allow_rule(call) for call, _ in _OPENS),
    # It reserves any number of bytes at once, past the limit of a file too, before supervision looks again.
    _deny_rule("fallocate", number=errno.EOPNOTSUPP),
    # Memory shared with nobody would escape the limit on private memory.
    _deny_rule("mmap", ArgumentTest(3, MAP_SHARED | MAP_ANONYMOUS, MAP_SHARED | MAP_ANONYMOUS)),
    _allow_rule("mmap"),
    # A lock that names a thread of another process says whether it exists, and lends it our priority.
    *(
        _deny_rule("futex", ArgumentTest(1, command, FUTEX_COMMAND), number=errno.ENOSYS)
        for command in FUTEX_INHERITING
    ),
    _allow_rule("futex"),
    # Threads, not processes, and of one table of descriptors: each table has a limit of its own.
    # clone3 hides its flags in memory, so glibc must fall back to clone.
    _allow_rule("clone", ArgumentTest(0, CLONE_THREAD, CLONE_THREAD)),
    _deny_rule("clone3", number=errno.ENOSYS),
    # Unshared, it makes a second table of descriptors.
    _deny_rule("close_range", ArgumentTest(2, CLOSE_RANGE_UNSHARE, CLOSE_RANGE_UNSHARE)),
    _allow_rule("close_range"),
    *(_allow_rule("ioctl", ArgumentTest(1, command)) for command in (TCGETS, TIOCGWINSZ, FIONBIO, FIOCLEX)),
    *(_allow_rule("fcntl", ArgumentTest(1, command)) for command in FCNTL),
    _allow_rule("sched_setaffinity", ArgumentTest(0, 0)),
    *(_allow_rule("prctl", ArgumentTest(0, option)) for option in (PR_SET_NAME, PR_SET_VMA)),
    *(
        _allow_rule(call, test)
        for call in ("clock_gettime", "clock_getres", "clock_nanosleep")
        for test in (
            ArgumentTest(0, 0, CLOCKS),
            ArgumentTest(0, CLOCK_OF_PROCESS),
            ArgumentTest(0, CLOCK_OF_THREAD),
        )
    ),
    # Last: the kernel remembers which calls are always allowed, and runs the filter for the others only.
    *(_allow_rule(call) for call in ALLOWED),
]
"""The first rule that fits a call decides."""

PROCESS_QUERIES = ("sched_getaffinity", "sched_getparam", "sched_getscheduler", "getpgid", "getsid")
"""Calls whose first argument is a process: tried with every number, they would count the host's processes."""


def make_filter(pid: int, further_rules: Iterable[Rule] = ()) -> bytes:
    """Compile the filter of the cell whose process id is `pid`. `further_rules` decide before all others."""
    return (
        _HEADER
        + assemble([*further_rules, *own_rules(pid)])
        + _SHARED_CODE
        + _instruction(_RETURN, deny_action(errno.EPERM))
    )


def own_rules(pid: int) -> list[Rule]:
    """Rules for calls that a process may make about itself and about no other.

    Signals, because `raise` and `abort` need them; not SIGKILL, which thereby comes from outside or the kernel.
    Limits may be read and not set.
    """
    return [
        _deny_rule("kill", ArgumentTest(1, SIGKILL)),
        _deny_rule("tgkill", ArgumentTest(2, SIGKILL)),
        *(_allow_rule(call, ArgumentTest(0, pid)) for call in ("kill", "tgkill")),
        *(_allow_rule(call, ArgumentTest(0, number)) for call in PROCESS_QUERIES for number in (0, pid)),
        *(
            _allow_rule("prlimit64", ArgumentTest(0, number), ArgumentTest(2, 0, _POINTER))
            for number in (0, pid)
        ),
    ]


def assemble(rules: Iterable[Rule]) -> bytes:
    """Compile rules to BPF, in their order."""
    return b"".join(line for rule in rules for line in _compile(rule))


def install(code: bytes) -> None:
    """Bind every thread of this process for good; needs no_new_privs."""
    buffer = ctypes.create_string_buffer(code, len(code))
    header = ctypes.create_string_buffer(
        struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(buffer))  # struct sock_fprog
    )
    # With TSYNC the call answers the id of a thread that it could not bind, and then binds none.
    unbound_thread = syscall(SETUP.seccomp, SECCOMP_SET_MODE_FILTER, FLAG_TSYNC, header, name="seccomp")
    if unbound_thread:
        raise OSError(errno.EBUSY, f"seccomp: thread {unbound_thread} could not be bound")


def _compile(rule: Rule) -> list[bytes]:
    body = _compile_tests(rule.tests, rule.action) if rule.tests else [_instruction(_RETURN, rule.action)]
    number = {**ALLOWED, **CONDITIONAL}[rule.call]
    return [_instruction(_JUMP_EQUAL, number, if_false=len(body)), *body]


def _compile_tests(tests: Iterable[ArgumentTest], action: int) -> list[bytes]:
    """Test the words of each argument, then load the call's number again for the rules that follow."""
    words = [word for test in tests for word in _argument_words(test)]
    lines: list[bytes] = []
    for position, (offset, mask, value) in enumerate(words):
        # Over three instructions for each word that follows, and over the return.
        to_reload = 3 * (len(words) - position - 1) + 1
        lines += [
            _instruction(_LOAD, offset),
            _instruction(_AND, mask),
            _instruction(_JUMP_EQUAL, value, if_false=to_reload),
        ]
    return [*lines, _instruction(_RETURN, action), _instruction(_LOAD, _NUMBER)]


def _argument_words(test: ArgumentTest) -> list[tuple[int, int, int]]:
    """Return offset, mask and value of the low and the high word, where the mask has bits there.

    Classic BPF compares 32 bits at a time, and both architectures are little-endian.
    """
    offset = _ARGUMENTS + 8 * test.argument
    low = (offset, test.mask & 0xFFFFFFFF, test.value & 0xFFFFFFFF)
    high = (offset + 4, test.mask >> 32, test.value >> 32)
    return [word for word in (low, high) if word[1]]


def _instruction(operation: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", operation, if_true, if_false, operand)


# Calls of other architectures and of the x32 ABI end the process, so that no number means two calls.
_HEADER = b"".join(
    [
        _instruction(_LOAD, _ARCHITECTURE),
        _instruction(_JUMP_EQUAL, AUDIT_ARCHITECTURES.get(MACHINE, 0), if_true=1),
        _instruction(_RETURN, KILL),
        _instruction(_LOAD, _NUMBER),
        _instruction(_JUMP_AT_LEAST, X32, if_false=1),
        _instruction(_RETURN, KILL),
    ]
)
# Compiled when the zygote imports this: all cells share it, and only the rules of their own pid are added.
_SHARED_CODE = assemble(RULES)
