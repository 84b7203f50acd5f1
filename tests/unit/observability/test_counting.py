"""What is counted, where counting chooses."""

import asyncio
from collections.abc import Awaitable, Mapping

import pytest
from prometheus_client import REGISTRY

from app.observability.metrics.agents import count_chat_answer, count_turn
from app.observability.metrics.api_requests import observe_request
from app.observability.metrics.cells import SandboxRun, count_computation
from app.tasks import cancel_and_wait


def value(name: str, labels: Mapping[str, str]) -> float:
    return REGISTRY.get_sample_value(name, dict(labels)) or 0.0


async def test_a_cell_that_is_cancelled_was_killed_and_one_that_never_answered_is_broken() -> None:
    async def compute(work: Awaitable[object]) -> None:
        with count_computation("counting.cells") as ending:
            await work
            ending.end, ending.wall_s, ending.cpu_s = "returned", 0.5, 0.25

    endless = asyncio.create_task(compute(asyncio.Event().wait()))
    await asyncio.sleep(0)
    await cancel_and_wait(endless)
    with pytest.raises(LookupError), count_computation("counting.cells"):
        raise LookupError
    await compute(asyncio.sleep(0))
    for end in ("cancelled", "broken", "returned"):
        assert value("labcrew_cells_ended_total", {"function": "counting.cells", "end": end}) == 1
    assert value("labcrew_cells_started_total", {"function": "counting.cells"}) == 3
    assert value("labcrew_cell_cpu_seconds_total", {"function": "counting.cells"}) == 0.25
    assert value("labcrew_cells_running", {}) == 0


def test_a_run_is_counted_by_provider_language_and_status() -> None:
    ends = {"returned": "succeeded", "refused": "rejected", "timed_out": "timed_out", "out_of_memory": "failed"}
    for end in ends:
        with count_computation("counting.runs", SandboxRun("counted", "plan")) as ending:
            ending.end, ending.wall_s = end, 0.5
    with count_computation("counting.runs"):
        pass
    labels = {"provider": "counted", "query_mode": "plan"}
    for status in ends.values():
        assert value("labcrew_sandbox_runs_total", {**labels, "status": status}) == 1
    assert value("labcrew_sandbox_run_seconds_sum", labels) == 2


def test_a_turn_has_one_of_four_modes_whatever_was_recorded() -> None:
    for mode in ("auto", "sql", None, "speech"):
        count_turn(mode, "counted", 0.25)
    turns = {mode: value("labcrew_agent_turns_total", {"mode": mode, "status": "counted"}) for mode in MODES}
    assert turns == {"agent": 3, "sql": 1, "speech": 0, "None": 0}


MODES = ("agent", "sql", "speech", "None")


def test_a_chat_models_tokens_and_cost_are_its_providers() -> None:
    usage = {"input_tokens": 100, "output_tokens": 20, "cached_tokens": 60, "cost_usd": 0.5}
    count_chat_answer("counted", "planner", 1.5, usage)
    count_chat_answer("counted", "reporter", 0.5, {})
    tokens = {kind: value("labcrew_chat_tokens_total", {"provider": "counted", "kind": kind}) for kind in KINDS}
    assert tokens == {"prompt": 100, "completion": 20, "cached": 60}
    assert value("labcrew_chat_cost_usd_total", {"provider": "counted"}) == 0.5
    assert value("labcrew_chat_duration_seconds_sum", {"provider": "counted"}) == 2


KINDS = ("prompt", "completion", "cached")


def test_an_invented_method_or_route_is_no_label() -> None:
    labels = {"method": "other", "route": "unmatched", "status": "404"}
    before = value("labcrew_http_request_duration_seconds_count", labels)
    observe_request("BREW", None, 404, 0.1)
    observe_request("PROPFIND", None, 404, 0.1)
    assert value("labcrew_http_request_duration_seconds_count", labels) == before + 2
