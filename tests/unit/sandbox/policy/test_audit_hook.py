"""The audit hook in processes with several threads."""

import subprocess
import sys

from tests.patience import HANG_GUARD_S

EVENTS_BESIDE_COLLECTIONS = """
import gc
import threading

from app.sandbox.policy.audit_hook import program_on_stack


class Cycle:
    def __init__(self):
        self.own = self
        self.local = threading.local()
        self.local.value = 1


def work():
    for _ in range(2000):
        garbage = [Cycle() for _ in range(3)]
        program_on_stack()


gc.set_threshold(3, 1, 1)
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(gc.isenabled())
"""


def test_events_of_threads_never_meet_a_collection_of_garbage() -> None:
    """Python 3.11 stands still where a collection begins while it lists the frames of its threads."""
    done = subprocess.run(
        [sys.executable, "-c", EVENTS_BESIDE_COLLECTIONS],
        capture_output=True,
        text=True,
        timeout=HANG_GUARD_S,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
