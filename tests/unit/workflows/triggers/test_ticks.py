"""Ticks of many workflows over two weeks with a change of the clock, with workers that pause."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from app.workflows.node_configs import Trigger
from app.workflows.triggers.ticks import MAX_LATE_S, choose_tick, first_tick

START = datetime(2026, 10, 18, tzinfo=UTC)
END = START + timedelta(days=14)
ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata")
CRONS = ("0 8 * * 1-5", "30 2 * * *", "0 */6 * * *", "15 0 * * 0", "0 0 1 * *", "*/30 9-10 * * *")


def all_ticks(trigger: Trigger) -> list[datetime]:
    ticks, tick = [], first_tick(trigger, START)
    while tick is not None and tick <= END:
        ticks.append(tick)
        tick = choose_tick(trigger, tick, tick).next_at
    return ticks


def simulate(trigger: Trigger, sweeps: list[datetime]) -> list[datetime]:
    """Sweep at these times, as several workers do: each takes what is due then."""
    runs, next_at = [], first_tick(trigger, START)
    for now in sweeps:
        while next_at is not None and next_at <= now:
            tick, next_at = choose_tick(trigger, next_at, now)
            runs += [tick] if tick else []
    return runs


def make_triggers(count: int) -> list[Trigger]:
    chance = random.Random(7)
    return [
        Trigger(
            kind="schedule",
            cron=chance.choice(CRONS),
            time_zone=chance.choice(ZONES),
            missed=chance.choice(["skip", "once", "all"]),
        )
        for _ in range(count)
    ]


def test_a_thousand_workflows_run_at_each_tick_once_over_two_weeks() -> None:
    sweeps = [START + timedelta(minutes=n) for n in range(14 * 24 * 60 + 1)]
    distinct = {trigger.model_dump_json(): trigger for trigger in make_triggers(1_000)}
    for trigger in distinct.values():
        ticks = all_ticks(trigger)
        # Sweeps between ticks change nothing: those at and after each tick are enough.
        near = sorted({sweep for tick in ticks for sweep in (tick, tick + timedelta(minutes=1))} | {sweeps[-1]})
        assert simulate(trigger, near) == ticks
    counts = {len(all_ticks(trigger)) for trigger in distinct.values()}
    assert counts >= {10, 14, 2, 1}


@pytest.mark.parametrize(("missed", "count"), [("skip", 8), ("once", 9), ("all", 14)])
def test_ticks_of_a_pause_are_handled_by_their_rule(missed: str, count: int) -> None:
    trigger = Trigger.model_validate(
        {"kind": "schedule", "cron": "0 8 * * *", "time_zone": "Europe/Berlin", "missed": missed}
    )
    pause = (START + timedelta(days=4), START + timedelta(days=9, hours=12))
    sweeps = [START + timedelta(minutes=n) for n in range(14 * 24 * 60 + 1)]
    runs = simulate(trigger, [sweep for sweep in sweeps if not pause[0] < sweep < pause[1]])
    assert len(runs) == len(set(runs)) == count
    assert set(runs) <= set(all_ticks(trigger))


def test_an_interval_keeps_its_steps_and_a_late_tick_is_not_missed() -> None:
    trigger = Trigger(kind="interval", every_s=600, missed="skip")
    tick = first_tick(trigger, START)
    assert tick == START + timedelta(minutes=10)
    late = choose_tick(trigger, tick, tick + timedelta(seconds=MAX_LATE_S))
    assert late == (tick, tick + timedelta(minutes=10))
    assert choose_tick(trigger, tick, tick + timedelta(seconds=MAX_LATE_S + 1)).tick is None
    assert choose_tick(trigger, tick, tick - timedelta(seconds=1)) == (None, tick)
