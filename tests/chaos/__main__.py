"""`make chaos`: break everything at random while sessions run, and say whether anything was lost.

CHAOS_FAULTS, CHAOS_SESSIONS, CHAOS_SEED, CHAOS_GAP (mean seconds between faults) and CHAOS_PATIENCE (seconds
for all to end after the last fault) steer it. CHAOS_KEEP=1 keeps the folder with its logs, as does a claim that
does not hold.
"""

import asyncio
import os
import secrets
import signal
import sys
import time

import uvloop
from tests.chaos.plan import draw_plan
from tests.chaos.recovery_table import counts, table, verdicts
from tests.chaos.small_disk import enter_own_mounts, remove
from tests.chaos.suite import Report, Suite, fresh_folder


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    refused = enter_own_mounts()
    faults, sessions = int(_option("FAULTS", "500")), int(_option("SESSIONS", "100"))
    seed = int(_option("SEED", str(secrets.randbelow(10_000))))
    say(f"CHAOS_FAULTS={faults} CHAOS_SESSIONS={sessions} CHAOS_SEED={seed}")
    plan = draw_plan(seed, faults, sessions, float(_option("GAP", "0.9")))
    folder = fresh_folder()
    began, report = time.monotonic(), None
    try:
        report = uvloop.run(_until_told(Suite(plan, folder, float(_option("PATIENCE", "300")), say, refused)))
    except (KeyboardInterrupt, asyncio.CancelledError):
        say("Interrupted: everything is stopped and removed.")
        return 130
    finally:
        if _option("KEEP", "") or (report and not report.holds):
            say(f"Its folder is kept: {folder}")
        else:
            remove(folder)
    _tell(report, time.monotonic() - began)
    return 0 if report.holds else 1


async def _until_told(suite: Suite) -> Report:
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("this is a task")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    return await suite.run()


def _option(name: str, default: str) -> str:
    return os.environ.get(f"CHAOS_{name}") or default


def _tell(report: Report, took_s: float) -> None:
    say(f"\n{table(report.recoveries)}\n")
    say(counts({**report.facts, "took s": round(took_s, 1)}))
    say(f"\n{verdicts(report.verdicts)}\n")
    broken = sum(bool(verdict.broken) for verdict in report.verdicts)
    say(f"{broken} of {len(report.verdicts)} claims do not hold." if broken else "Every claim holds.")


if __name__ == "__main__":
    sys.exit(main())
