"""Attacks on what supervision bounds: disk that no survey sees, ends like an accident, sight of the host.

Raw Python, no language policy. A hoard holds more than its limit of 32 MiB for three seconds; a suicide is not
to be begun again; a count learns that process 1 or its parent exists, or how many there are.
"""

_HOARD = """
import ctypes, mmap, os, threading, time
MIB = 1 << 20
SYSCALL = ctypes.CDLL(None, use_errno=True).syscall
def fill(f, mib=24):
    for _ in range(mib // 4): os.write(f, b'0' * (4 * MIB))
def fresh(name): return os.open(name, os.O_CREAT | os.O_RDWR, 0o600)
def held_for_long(size):
    assert size > 100 * MIB, size
    time.sleep(3)
    return 'PWNED'
"""

HOARDS = {
    name: _HOARD + source
    for name, source in {
        "unlinked files": """
held = []
for n in range(8):
    f = fresh(f'u{n}'); os.unlink(f'u{n}'); fill(f); held.append(f)
result = held_for_long(sum(os.fstat(f).st_blocks * 512 for f in held))
""",
        "files unlinked between two writes": """
held = []
for n in range(8):
    f = fresh(f'u{n}'); fill(f, 4); os.unlink(f'u{n}'); fill(f, 20); held.append(f)
result = held_for_long(sum(os.fstat(f).st_blocks * 512 for f in held))
""",
        "unlinked files behind mappings": """
held = []
for n in range(8):
    f = fresh(f'u{n}'); os.ftruncate(f, 24 * MIB); m = mmap.mmap(f, 24 * MIB); os.close(f); os.unlink(f'u{n}')
    for at in range(0, len(m), 4096): m[at] = 1
    held.append(m)
result = held_for_long(sum(map(len, held)))
""",
        "one page mapped of unlinked files": """
held = []
for n in range(8):
    f = fresh(f'u{n}'); fill(f); held.append(mmap.mmap(f, 4096, mmap.MAP_PRIVATE))
    os.unlink(f'u{n}'); os.close(f)
result = held_for_long(len(held) * 24 * MIB)
""",
        "files without a name": """
held = []
for n in range(8):
    f = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o600); fill(f); held.append(f)
result = held_for_long(sum(os.fstat(f).st_blocks * 512 for f in held))
""",
        "temporary files": """
import tempfile
held = []
for n in range(8):
    f = tempfile.TemporaryFile(dir='.', buffering=0); fill(f.fileno()); held.append(f)
result = held_for_long(sum(os.fstat(f.fileno()).st_blocks * 512 for f in held))
""",
        "files replaced by empty ones": """
held = []
for n in range(8):
    f = fresh('x'); fill(f); held.append(f); os.close(fresh('y')); os.replace('y', 'x')
result = held_for_long(sum(os.fstat(f).st_blocks * 512 for f in held))
""",
        "room reserved behind the end of a file": """
f = fresh('x')
if SYSCALL(285, f, 1, ctypes.c_long(0), ctypes.c_long(256 * MIB)): raise OSError(ctypes.get_errno())
result = held_for_long(os.fstat(f).st_blocks * 512)
""",
        "room reserved in many files": """
for n in range(64): os.posix_fallocate(fresh(f'x{n}'), 0, 32 * MIB)
result = held_for_long(64 * 32 * MIB)
""",
        "another table of descriptors": """
held = []
def hold(n):
    if SYSCALL(436, 900, 901, 2): raise OSError(ctypes.get_errno())
    f = fresh(f'u{n}'); fill(f); os.unlink(f'u{n}'); held.append(n); time.sleep(30)
for n in range(8): threading.Thread(target=hold, args=(n,), daemon=True).start()
time.sleep(3)
result = held_for_long(len(held) * 24 * MIB)
""",
        "descriptors of a thread that outlives the first": """
held = []
def hold():
    for n in range(8):
        f = fresh(f'u{n}'); os.unlink(f'u{n}'); fill(f); held.append(f)
    time.sleep(3); os.write(4, b'{"end": "returned", "value": "PWNED"}\\n'); os.write(6, b'.'); os._exit(0)
threading.Thread(target=hold).start()
SYSCALL(60, 0)
""",
        "files that change folders": """
os.mkdir('a'); os.mkdir('b')
for n in range(8):
    f = fresh(f'a/{n}'); os.rename(f'a/{n}', f'b/{n}'); os.rename(f'b/{n}', f'a/{n}'); fill(f)
def hop():
    while True:
        for n in range(8): os.rename(f'a/{n}', f'b/{n}')
        for n in range(8): os.rename(f'b/{n}', f'a/{n}')
threading.Thread(target=hop, daemon=True).start()
result = held_for_long(8 * 24 * MIB)
""",
        "folders that change their names": """
os.mkdir('a'); os.rename('a', 'b'); os.rename('b', 'a'); fill(fresh('a/x'), 160)
result = held_for_long(160 * MIB)
""",
        "a folder that was removed": """
os.mkdir('d'); inside = os.open('d', os.O_RDONLY); held = []
for n in range(8):
    f = os.open(f'u{n}', os.O_CREAT | os.O_RDWR, 0o600, dir_fd=inside); os.unlink(f'd/u{n}')
    fill(f); held.append(f)
os.rmdir('d')
result = held_for_long(sum(os.fstat(f).st_blocks * 512 for f in held))
""",
        "unlinked files copied by the kernel": """
f = fresh('x'); fill(f, 24); held = []
for n in range(8):
    g = fresh(f'u{n}'); os.unlink(f'u{n}'); os.copy_file_range(f, g, 24 * MIB, 0, 0); held.append(g)
result = held_for_long(sum(os.fstat(f).st_size for f in held))
""",
        "hidden, shut and nested files": """
nest = '.h/' + '/'.join('n' * 200 for _ in range(12))
os.makedirs(nest); os.chdir(nest)
os.umask(0o777)
for n in range(8): fill(os.open(f'.u{n}', os.O_CREAT | os.O_WRONLY, 0))
result = held_for_long(8 * 24 * MIB)
""",
    }.items()
}

_DEATH = """
import ctypes, os, resource, signal, threading, time
LIBC = ctypes.CDLL(None, use_errno=True)
ME = os.getpid()
"""

SUICIDES = {
    name: _DEATH + source
    for name, source in {
        "SIGKILL to itself": "os.kill(ME, signal.SIGKILL)",
        "SIGKILL by raise": "LIBC['raise'](9)",
        "SIGKILL from a thread": """
first = threading.main_thread().ident
other = threading.Thread(target=lambda: signal.pthread_kill(first, 9)); other.start(); other.join()
""",
        "SIGKILL by tkill": "LIBC.syscall(200, LIBC.gettid(), 9)",
        "SIGKILL by a queue": "LIBC.syscall(129, ME, 9, ctypes.create_string_buffer(128))",
        "SIGKILL by a handle": "signal.pidfd_send_signal(os.pidfd_open(ME), 9)",
        "SIGKILL by a timer": """
event = (ctypes.c_int * 16)(0, 0, 9, 0); timer = ctypes.c_int()
LIBC.syscall(222, 1, event, ctypes.byref(timer))
LIBC.syscall(223, timer, 0, (ctypes.c_long * 4)(0, 1, 0, 1), None); time.sleep(0.3)
""",
        "SIGKILL for input": """
import fcntl
r, w = os.pipe(); fcntl.fcntl(r, 10, 9); fcntl.fcntl(r, fcntl.F_SETOWN, ME)
fcntl.fcntl(r, fcntl.F_SETFL, fcntl.fcntl(r, fcntl.F_GETFL) | os.O_ASYNC); os.write(w, b'x')
""",
        "SIGKILL when its parent ends": "LIBC.prctl(1, 9, 0, 0, 0)",
        "strict seccomp": "LIBC.prctl(22, 1, 0, 0, 0)\nos.getppid()",
        "processor time by threads": """
import zlib
def burn():
    block = bytes(1 << 24)
    while True: zlib.crc32(block)
for _ in range(8): threading.Thread(target=burn, daemon=True).start()
burn()
""",
        "an abort": "os.abort()",
        "a fault of the stack": """
import sys
sys.setrecursionlimit(1 << 30)
class Endless:
    def __repr__(self): return repr(self)
repr(Endless())
""",
        "another number space": "LIBC.syscall(0x40000027)",
        "its channel closed": "os.close(6); os.close(4); os._exit(0)",
        "its channel full": "[os.write(6, b'.' * 100) for _ in range(10)]",
        "every descriptor closed": "os.closerange(0, 512)\nos._exit(9)",
        "an exit as if killed": "os._exit(137)",
        "a signal for terminating": "signal.signal(15, signal.SIG_DFL); os.kill(ME, 15)",
        "memory of many threads": """
def hog():
    blocks = []
    while True: blocks.append(bytearray(os.urandom(1 << 20) * 4))
for _ in range(4): threading.Thread(target=hog, daemon=True).start()
hog()
""",
        "memory by the folder": """
import mmap
for n in range(3):
    f = open(f'x{n}', 'w+b'); f.truncate(8 << 20); m = mmap.mmap(f.fileno(), 8 << 20); m[:] = b'1' * len(m)
os.kill(ME, signal.SIGKILL)
""",
    }.items()
}

_COUNT = """
import ctypes, os, resource, time
LIBC = ctypes.CDLL(None, use_errno=True)
OTHERS = {1, os.getppid() or 2} - {os.getpid()}  # where it is process 1 itself, there is nobody else
NOBODY = 4_194_303
def tells(ask, number):
    ctypes.set_errno(0)
    try: answer = ask(number)
    except OSError as error: return error.errno
    return ctypes.get_errno() if answer == -1 else 0
def differs(ask): return any(tells(ask, other) != tells(ask, NOBODY) for other in OTHERS)
def call(number, *after): return lambda process: LIBC.syscall(number, process, *after)
"""

COUNTS = {
    name: _COUNT + f"result = 'PWNED' if {claim} else ''"
    for name, claim in {
        "the list of processes": "[name for name in os.listdir('/proc') if name.isdigit()]",
        "the list by a path of oneself": "os.listdir('/proc/self/..')",
        "the list by a thread of oneself": "os.listdir('/proc/thread-self/../../..')",
        "groups": "differs(os.getpgid)",
        "sessions": "differs(os.getsid)",
        "processors": "differs(os.sched_getaffinity)",
        "policies": "differs(os.sched_getscheduler)",
        "parameters": "differs(os.sched_getparam)",
        "slices": "differs(lambda process: os.sched_rr_get_interval(process))",
        "priorities": "differs(lambda process: os.getpriority(os.PRIO_PROCESS, process))",
        "priorities of disks": "differs(lambda process: LIBC.syscall(252, 1, process))",
        "limits": "differs(lambda process: resource.prlimit(process, resource.RLIMIT_CPU))",
        "signals": "differs(lambda process: os.kill(process, 0))",
        "signals to threads": "differs(lambda process: LIBC.syscall(234, os.getpid(), process, 0))",
        "clocks of processes": "differs(lambda process: time.clock_gettime((~process << 3) | 2))",
        "clocks of threads": "differs(lambda process: time.clock_gettime((~process << 3) | 6))",
        "how fine clocks are": "differs(lambda process: time.clock_getres((~process << 3) | 2))",
        "sleep by a clock": (
            "differs(lambda process: "
            "LIBC.syscall(230, (~process << 3) | 2, 0, (ctypes.c_long * 2)(0, 1), None))"
        ),
        "locks with an owner": (
            "differs(lambda process: "
            "LIBC.syscall(202, ctypes.byref(ctypes.c_int(process)), 8, 0, None, None, 0))"
        ),
        "capabilities": (
            "differs(lambda process: LIBC.syscall(125, (ctypes.c_uint * 2)(0x20080522, process), bytes(24)))"
        ),
        "handles": "differs(os.pidfd_open)",
        "memory": "differs(call(310, None, 0, None, 0, 0))",
        "lists of locks": "differs(call(274, ctypes.byref(ctypes.c_long()), ctypes.byref(ctypes.c_long())))",
        "kinship": "differs(lambda process: LIBC.syscall(312, process, process, 0, 0, 0))",
        "scheduling": "differs(call(315, ctypes.create_string_buffer(56), 56, 0))",
        "pages": "differs(call(279, 0, None, None, None, 0))",
        "children": "differs(lambda process: os.waitpid(process, os.WNOHANG))",
        "the number that the kernel keeps": (
            "LIBC.sysinfo(s := ctypes.create_string_buffer(128)) == 0 and any(s.raw[80:82])"
        ),
        "the load": "os.getloadavg()",
        "the load in a file": "open('/proc/loadavg').read()",
        "the kernel's counters": "open('/proc/stat').read()",
        "a control group's processes": "open('/sys/fs/cgroup/cgroup.procs').read()",
        "a control group's number of processes": "open('/sys/fs/cgroup/pids/pids.current').read()",
        "an older control group's processes": "open('/sys/fs/cgroup/pids/tasks').read()",
        "the parent of a control group": "open('/sys/fs/cgroup/memory/cgroup.procs').read()",
        "another control group's counters": "open('/sys/fs/cgroup/cpuacct/cpuacct.usage').read()",
        "the command of a process": "open(f'/proc/{os.getppid() or 1}/cmdline').read()",
        "threads of the kernel's debugger": "os.listdir('/sys/kernel/debug')",
    }.items()
}
