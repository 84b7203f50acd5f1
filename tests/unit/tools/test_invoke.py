"""One tool call from end to end."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from app.errors import InvalidInput, ToolRefused, TooMany, Unavailable
from app.sandbox.computation_runner import ComputationFailed
from app.sessions.in_memory import MemoryJournal, MemoryStep
from app.sessions.step_scope import ArtifactDraft, CallResult, SessionFacts
from app.tools.context.tool_context import ToolContext
from app.tools.invoke import ToolRequest, invoke
from app.tools.registry import ToolSpec, _argument_model
from app.tools.tool_errors import get_refusal

FACTS = SessionFacts(UUID(int=1), UUID(int=2), "", {}, (), 0, datetime.now(UTC))


def spec_of(function) -> dict[str, ToolSpec]:
    return {"double": ToolSpec("double", "", _argument_model(function), function, ())}


@pytest.fixture
def journal() -> MemoryJournal:
    return MemoryJournal()


@pytest.fixture
def ctx(journal) -> ToolContext:
    return ToolContext("planner", MemoryStep(FACTS, journal), None, None, None)  # type: ignore[arg-type]


def request(**arguments) -> ToolRequest:
    return ToolRequest("tool:0.0", "double", arguments)


async def double(ctx: ToolContext, number: int) -> CallResult:
    return CallResult(value={"doubled": 2 * number, "key": ctx.call}, summary=f"{2 * number}")


async def test_a_call_is_recorded_and_sends_events(ctx, journal):
    answer = await invoke(spec_of(double), ctx, request(number=4))
    assert answer.value == {"doubled": 8, "key": "tool:0.0"}
    called, returned = journal.events
    assert (called.kind, called.tool, called.arguments) == ("tool_called", "double", {"number": 4})
    assert (returned.kind, returned.summary, returned.failed) == ("tool_returned", "8", False)


async def test_a_recorded_call_neither_runs_nor_sends_events_again(ctx, journal):
    runs = []

    async def counting(ctx: ToolContext, number: int) -> CallResult:
        runs.append(number)
        return CallResult(value=number)

    first = await invoke(spec_of(counting), ctx, request(number=1))
    second = await invoke(spec_of(counting), ctx, request(number=1))
    assert (first.value, second.value, runs) == (1, 1, [1])
    assert [event.kind for event in journal.events] == ["tool_called", "tool_returned"]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ToolRefused("There is no column 'x'. Did you mean y?"), "There is no column 'x'. Did you mean y?"),
        (InvalidInput("bad_recipe", "Operation 0 is wrong."), "Operation 0 is wrong."),
        (ComputationFailed("computation_timed_out", "It took longer than 3 s."), "It took longer than 3 s."),
    ],
)
async def test_errors_that_the_agent_can_correct_are_recorded_refusals(ctx, journal, error, said):
    async def failing(ctx: ToolContext) -> CallResult:
        raise error

    for _ in range(2):
        answer = await invoke(spec_of(failing), ctx, request())
        assert answer.refusal == said
    assert [recorded.failed for _, recorded in journal.recorded] == [True]


@pytest.mark.parametrize(
    "error",
    [
        Unavailable("cells_unavailable", "No cells."),
        ComputationFailed("computation_raised", "ZeroDivisionError"),
        ComputationFailed("computation_cancelled", "It was cancelled."),
        ZeroDivisionError("a bug"),
    ],
)
async def test_errors_that_the_agent_cannot_correct_are_raised(ctx, journal, error):
    async def failing(ctx: ToolContext) -> CallResult:
        raise error

    with pytest.raises(type(error)):
        await invoke(spec_of(failing), ctx, request())
    assert journal.recorded == []


async def error_of(ctx, error: Exception, attempt: int = 1, **arguments: object) -> dict:
    async def failing(ctx: ToolContext) -> CallResult:
        raise error

    call = ToolRequest("tool:0.0", "double", arguments, attempt)
    answer = await invoke(spec_of(failing), ctx, call)
    return answer.value["error"]


async def test_an_error_is_data_with_its_type_field_nearest_and_attempt(ctx):
    refused = ToolRefused("There is no column 'x'.", kind="not_found", nearest=["y"])
    assert await error_of(ctx, refused, attempt=2) == {
        "type": "not_found",
        "message": "There is no column 'x'.",
        "nearest": ["y"],
        "retryable": True,
        "attempt": 2,
    }


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ComputationFailed("computation_timed_out", "It took longer."), "timed_out"),
        (ComputationFailed("computation_out_of_memory", "It needed more."), "out_of_memory"),
        (ComputationFailed("computation_out_of_disk", "It wrote more."), "out_of_disk"),
        (InvalidInput("code_not_allowed", "Line 1."), "refused_by_policy"),
        (InvalidInput("bad_recipe", "Operation 0."), "failed"),
        (ToolRefused("The user rejected this call.", kind="rejected_by_user"), "rejected_by_user"),
    ],
)
async def test_an_error_has_the_type_of_its_cause(ctx, error, kind):
    described = await error_of(ctx, error)
    assert described["type"] == kind
    assert described["retryable"] is (kind != "rejected_by_user")


async def test_wrong_arguments_and_unknown_tools_are_errors_of_their_own(ctx):
    wrong = (await invoke(spec_of(double), ctx, ToolRequest("tool:0.0", "double", {"numbr": 1}))).value["error"]
    assert (wrong["type"], wrong["retryable"]) == ("invalid_arguments", True)
    assert "number" in wrong["message"]
    unknown = (await invoke(spec_of(double), ctx, ToolRequest("tool:0.1", "duoble", {}))).value["error"]
    assert (unknown["type"], unknown["nearest"]) == ("unknown_tool", ["double"])


def test_refusals_of_earlier_journals_are_still_read():
    assert get_refusal({"refused": "No."}) == "No."
    assert get_refusal({"error": {"type": "failed", "message": "No."}}) == "No."
    assert get_refusal({"error": "a column of this name"}) is None


async def test_a_call_whose_artifacts_have_no_room_is_refused_and_stores_none(ctx, journal):
    draft = ArtifactDraft("table", "big", "text/csv", "0" * 64, 2_000)

    async def charge(artifacts):
        raise TooMany("storage_full", f"There is no room for {artifacts[0].size_bytes} bytes.")

    async def storing(ctx: ToolContext) -> CallResult:
        return CallResult(1, artifacts=[draft])

    answer = await invoke(spec_of(storing), replace(ctx, charge_storage=charge), request())
    assert answer.refusal == "There is no room for 2000 bytes."
    assert [recorded.artifacts for _, recorded in journal.recorded] == [()]
