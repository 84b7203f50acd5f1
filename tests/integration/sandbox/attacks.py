"""Attacks that the isolation alone must stop: raw Python, no language policy.

Each sets `result` to "PWNED" if it got what it was after. `@SECRET@` is a file outside, `@OUTSIDE@` its folder.
"""

READS = {
    "a file": "result = 'PWNED' if open('@SECRET@').read() else ''",
    "a file by a path upwards": "result = 'PWNED' if open('../../../../../../../..@SECRET@').read() else ''",
    "a file through a link": """
import os
try: os.symlink('@SECRET@', 'link')
except OSError: pass
result = 'PWNED' if open('link').read() else ''
""",
    "a file through a hard link": "import os\nos.link('@SECRET@', 'link')\nresult = 'PWNED'",
    "a file by pandas": "import pandas\nresult = 'PWNED' if len(pandas.read_csv('@SECRET@')) >= 0 else ''",
    "a file by duckdb": """
import duckdb
result = 'PWNED' if duckdb.sql("select * from read_text('@SECRET@')").fetchall() else ''
""",
    "a folder": "import os\nresult = 'PWNED' if os.listdir('@OUTSIDE@') else ''",
    "folders of other cells": "import os\nresult = 'PWNED' if os.listdir('..') else ''",
    "the accounts": "result = 'PWNED' if open('/etc/passwd').read() else ''",
    "the zygote's environment": """
import os
result = 'PWNED' if open(f'/proc/{os.getppid() or 1}/environ').read() else ''
""",
    "its own memory map": "result = 'PWNED' if open('/proc/self/maps').read() else ''",
    "memory of a device": "import mmap\nmmap.mmap(open('/dev/zero').fileno(), 4096, prot=1)\nresult = 'PWNED'",
    "the kernel's memory": """
result = ''
for path in ('/dev/mem', '/dev/kmem', '/proc/kcore', '/dev/vda', '/dev/sda', '/dev/kmsg'):
    try: open(path, 'rb').read(1); result = 'PWNED'
    except OSError: pass
""",
    "the root of another process": "import os\nresult = 'PWNED' if os.listdir('/proc/1/root') else ''",
    "secrets of the environment": """
import os
result = 'PWNED' if [name for name in os.environ if 'KEY' in name or 'SECRET' in name or 'URL' in name] else ''
""",
}

WRITES = {
    "a file outside": "open('@OUTSIDE@/new', 'w').write('x')\nresult = 'PWNED'",
    "into a file outside": "open('@SECRET@', 'a').write('x')\nresult = 'PWNED'",
    "truncating by opening": "import os\nos.open('@SECRET@', os.O_RDONLY | os.O_TRUNC)\nresult = 'PWNED'",
    "truncating by name": "import os\nos.truncate('@SECRET@', 0)\nresult = 'PWNED'",
    "truncating a library": """
import os, json
os.open(json.__file__, os.O_RDONLY | os.O_TRUNC)
result = 'PWNED'
""",
    "times of a file outside": "import os\nos.utime('@SECRET@', (1, 1))\nresult = 'PWNED'",
    "the mode of a file outside": "import os\nos.chmod('@SECRET@', 0o777)\nresult = 'PWNED'",
    "the owner of a file outside": "import os\nos.chown('@SECRET@', 1, 1)\nresult = 'PWNED'",
    "removing a file outside": "import os\nos.unlink('@SECRET@')\nresult = 'PWNED'",
    "renaming a file outside": "import os\nos.rename('@SECRET@', '@SECRET@2')\nresult = 'PWNED'",
    "the shared temporary folder": "open('/tmp/labcrew-pwned', 'w').write('x')\nresult = 'PWNED'",
    "shared memory": "open('/dev/shm/labcrew-pwned', 'w').write('x')\nresult = 'PWNED'",
    "a setuid program": "import os\nopen('x', 'w').close()\nos.chmod('x', 0o4755)\nresult = 'PWNED'",
    "a device": "import os, stat\nos.mknod('d', stat.S_IFCHR | 0o600, os.makedev(1, 1))\nresult = 'PWNED'",
    "a named pipe": "import os\nos.mkfifo('p')\nresult = 'PWNED'",
    "extended attributes": "import os\nos.setxattr('@SECRET@', 'user.x', b'1')\nresult = 'PWNED'",
}

NETWORK = {
    f"a socket of family {family} and type {kind}": f"""
import socket
socket.socket({family}, {kind}, 0)
result = 'PWNED'
"""
    for family, kind in ((2, 1), (2, 2), (2, 3), (10, 1), (1, 1), (1, 5), (16, 3), (17, 3), (38, 5), (40, 1))
} | {
    "a pair of sockets": "import socket\nsocket.socketpair()\nresult = 'PWNED'",
    "a name resolved": "import socket\nsocket.getaddrinfo('localhost', 80)\nsocket.socket()\nresult = 'PWNED'",
    "a page": "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:1')\nresult = 'PWNED'",
}

PROCESSES = {
    "a fork": "import os\nif os.fork() == 0: os._exit(0)\nresult = 'PWNED'",
    "a shell": "import os\nresult = 'PWNED' if os.system('true') == 0 else ''",
    "a subprocess": "import subprocess\nsubprocess.run(['/bin/true'])\nresult = 'PWNED'",
    "a spawned program": "import os\nos.posix_spawn('/bin/true', ['true'], {})\nresult = 'PWNED'",
    "another program in its place": "import os\nos.execv('/bin/true', ['true'])",
    "a pool of processes": """
import multiprocessing
with multiprocessing.get_context('fork').Pool(1) as pool: pool.map(len, [[1]])
result = 'PWNED'
""",
    "vfork by number": "import ctypes\nresult = 'PWNED' if ctypes.CDLL(None).syscall(58) >= 0 else ''",
    "execve by number": """
import ctypes
ctypes.CDLL(None).syscall(59, b'/bin/true', (ctypes.c_char_p * 2)(b'true', None), None)
""",
    "a memory file to run": "import os\nos.memfd_create('x')\nresult = 'PWNED'",
    "its parent killed": "import os\nos.kill(os.getppid() or -1, 9)\nresult = 'PWNED'",
    "all processes signalled": "import os\nos.kill(-1, 0)\nresult = 'PWNED'",
    "a group killed": "import os\nos.killpg(os.getpgid(0), 0)\nresult = 'PWNED'",
    "a signal sent by the kernel": """
import fcntl, os
ends = os.pipe()
fcntl.fcntl(ends[0], fcntl.F_SETOWN, os.getppid() or 1)
result = 'PWNED'
""",
    "a process traced": """
import ctypes, os
result = 'PWNED' if ctypes.CDLL(None).ptrace(16, os.getppid() or 1, 0, 0) == 0 else ''
""",
    "memory of a process": """
import ctypes, os
result = 'PWNED' if ctypes.CDLL(None).syscall(310, os.getppid() or 1, 0, 0, 0, 0, 0) >= 0 else ''
""",
    "a handle of a process": "import os\nos.pidfd_open(os.getppid() or 1)\nresult = 'PWNED'",
    "limits lifted": "import resource as r\nr.setrlimit(r.RLIMIT_CPU, (9999, 9999))\nresult = 'PWNED'",
    "limits of others": """
import resource, os
resource.prlimit(os.getppid() or 1, resource.RLIMIT_CPU, (1, 1))
result = 'PWNED'
""",
    "priority": "import os\nos.setpriority(os.PRIO_PROCESS, 0, 5)\nresult = 'PWNED'",
    "processors of others": "import os\nos.sched_setaffinity(os.getppid() or 1, {0})\nresult = 'PWNED'",
    "a user": "import os\nos.setuid(1234)\nresult = 'PWNED'",
    "a root": "import os\nos.chroot('.')\nresult = 'PWNED'",
    "a session": "import os\nos.setsid()\nresult = 'PWNED'",
}

KERNEL = {
    name: f"import ctypes\nresult = 'PWNED' if ctypes.CDLL(None).syscall({call}) >= 0 else ''"
    for name, call in {
        "namespaces": "272, 0x10000000",
        "mounts": "165, b'tmpfs', b'/', b'tmpfs', 0, None",
        "a filesystem": "430, b'tmpfs', 0",
        "io_uring": "425, 1, ctypes.create_string_buffer(200)",
        "kernel programs": "321, 0, ctypes.create_string_buffer(200), 64",
        "performance counters": "298, ctypes.create_string_buffer(200), 0, -1, -1, 0",
        "page faults": "323, 0",
        "keys": "250, 0, -3, 1",
        "shared memory of System V": "29, 0x5b5b, 4096, 0o1666",
        "semaphores of System V": "64, 0x5b5b, 1, 0o1666",
        "queues of System V": "68, 0x5b5b, 0o1666",
        "a queue": "240, b'labcrew', 0o102, 0o600, None",
        "a module": "313, 3, b'', 0",
        "another kernel": "246, 0, 0, 0, 0",
        "the clock": "227, 0, ctypes.create_string_buffer(16)",
        "the host's name": "170, b'x', 1",
        "file notification": "294, 0",
        "file handles": "303, -100, b'/', ctypes.create_string_buffer(200), ctypes.create_string_buffer(8), 0",
        "personality": "135, 0x0040000",
        "privileges back": "157, 38, 0, 0, 0, 0",
        "dumpability": "157, 4, 1, 0, 0, 0",
        "a looser filter": "317, 1, 0, ctypes.create_string_buffer(16)",
        "the x32 numbers": "0x40000000 + 57",
    }.items()
}

BOMBS = {
    "processor": ("while True: pass", "timed_out"),
    "processor without signals": (
        "import signal\nfor n in range(1, 32):\n    try: signal.signal(n, signal.SIG_IGN)\n"
        "    except Exception: pass\nwhile True: pass",
        "timed_out",
    ),
    "a long C call": ("print(len(str(9 ** (9 ** 9))))", "timed_out"),
    "sleep": ("import time\ntime.sleep(1000)", "timed_out"),
    "memory": ("x = bytearray(1 << 40)", "out_of_memory"),
    "memory by steps": ("x = []\nwhile True: x.append(bytearray(1 << 24))", "out_of_memory"),
    "memory by numpy": ("import numpy\nx = numpy.ones(1 << 33)", "out_of_memory"),
    "memory shared with nobody": (
        "import mmap\nx = []\nwhile True:\n    m = mmap.mmap(-1, 1 << 26)\n    m.write(b'1' * (1 << 26))\n"
        "    x.append(m)",
        "out_of_memory raised",
    ),
    "one file": (
        "f = open('x', 'wb')\nwhile True: f.write(b'0' * (1 << 20))",
        "out_of_disk",
    ),
    "many files": (
        "n = 0\nwhile True:\n    n += 1\n    with open(f'x{n}', 'wb') as f: f.write(b'0' * (1 << 22))",
        "out_of_disk",
    ),
    "many empty files": (
        "n = 0\nwhile True:\n    n += 1\n    open(f'x{n}', 'wb').close()",
        "out_of_disk timed_out",
    ),
    "many hidden files": (
        "import os\nos.mkdir('.h')\nn = 0\nwhile True:\n    n += 1\n    open(f'.h/x{n}', 'wb').close()",
        "out_of_disk timed_out",
    ),
    "a nest of folders": (
        "import os\nwhile True:\n    os.mkdir('d')\n    os.chdir('d')",
        "out_of_disk",
    ),
    "shut folders": (
        "import os\nn = 0\nwhile True:\n    n += 1\n    os.mkdir(f'd{n}', 0)",
        "out_of_disk",
    ),
    "sparse files": (
        "n = 0\nwhile True:\n    n += 1\n    f = open(f'x{n}', 'wb')\n    f.truncate(1 << 23)\n    f.close()",
        "out_of_disk",
    ),
    "threads": (
        "import threading, time\nthreading.stack_size(1 << 16)\nwhile True:\n"
        "    try: threading.Thread(target=time.sleep, args=(100,), daemon=True).start()\n"
        "    except RuntimeError: time.sleep(1)",
        "died",
    ),
    "descriptors": ("x = []\nwhile True: x.append(open('/dev/null'))", "raised"),
    "a regular expression": ("import re\nre.match('(a+)+$', 'a' * 64 + 'b')", "timed_out"),
    "output": ("while True: print('x' * 10000)", "timed_out"),
    "raw output": ("import os\nwhile True: os.write(1, b'x' * 10000)", "timed_out raised died"),
    "recursion": ("def f(): f()\nf()", "raised"),
    "a crash": ("import ctypes\nctypes.string_at(0)", "died"),
    "an exit": ("import os\nos._exit(0)", "died"),
    "nonsense for an answer": ("import os\nos.write(4, b'\\xff' * 70000)\nos._exit(0)", "died"),
    "an endless answer": ("import os\nwhile True: os.write(4, b'x' * 60000)", "raised died timed_out"),
}
