"""Thinking of a chat model is not taken from the time for fits, up to an allowance."""

from app.pipeline.step_timing import record_working_time
from app.tools.context.thinking_time import MIN_ALLOWANCE_S, ThinkingTime, thinking_allowance_s


def test_thinking_is_no_working_time_up_to_its_allowance() -> None:
    assert ThinkingTime(10.0, 5.0).working_s(40.0) == 25.0
    assert ThinkingTime(MIN_ALLOWANCE_S, 50.0).working_s(200.0) == 200.0 - MIN_ALLOWANCE_S
    assert ThinkingTime(30.0).working_s(10.0) == 0.0


def test_a_long_budget_allows_as_much_thinking() -> None:
    assert thinking_allowance_s(30.0) == MIN_ALLOWANCE_S
    assert thinking_allowance_s(600.0) == 600.0


async def test_a_step_adds_its_thinking_and_leaves_it_out_of_its_time() -> None:
    class Lab:
        thinking = ThinkingTime()
        readings = iter((40.0, 60.0))

        async def working_time_s(self, _: str) -> float:
            return self.thinking.working_s(next(self.readings))

    class Running:
        context = Lab()

    async def node(state, runtime):
        runtime.context.thinking.present_s += 12.0
        return {"frame": str(state["worked_s"])}

    state = {"thought_s": 10.0, "preferences": {"time_budget_s": 60}}
    update = await record_working_time("data_analysis", node)(state, Running())  # type: ignore[arg-type]
    assert update["frame"] == "30.0"
    assert (update["worked_s"], update["thought_s"]) == (38.0, 22.0)
    assert update["took"] == {"data_analysis": 8.0}
