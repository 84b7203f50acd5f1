"""Failures inside a node: results of the node, unless the step is to be tried again."""

import logging
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from langgraph.errors import GraphInterrupt

from app.errors import Forbidden, Unavailable
from app.sessions.lease import LeaseLost
from app.sessions.step_scope import Call, CallResult
from app.storage.blobs import StoreUnavailable
from app.workflows.document import Node
from app.workflows.runs.context import RunContext
from app.workflows.runs.node_execution import record


class UnrecordedStep:
    """Runs calls, and records none."""

    async def call(self, call: Call, run: Callable[[], Awaitable[CallResult]]) -> Any:
        return (await run()).value


CTX = cast(RunContext, SimpleNamespace(step=UnrecordedStep(), attempt=1))
NODE = Node(id="ask", type="http_request")


def fail_by(error: Exception) -> Callable[[], Awaitable[CallResult]]:
    async def run() -> CallResult:
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ValueError("a secret"), "node_broken"),
        (Unavailable("chat_model_failed", "No chat model answered."), "chat_model_failed"),
        (Forbidden("host_not_allowed", "No."), "host_not_allowed"),
    ],
)
async def test_an_error_inside_a_node_is_its_result(
    error: Exception, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.CRITICAL):
        result = await record(CTX, NODE, fail_by(error))
    assert (result.status, result.code) == ("failed", code)
    assert "a secret" not in str(result.error)


@pytest.mark.parametrize(
    "error",
    [
        StoreUnavailable("blob_store_away", "The store is away."),
        LeaseLost(),
        GraphInterrupt(),
        ConnectionResetError(),
    ],
)
async def test_what_pauses_a_step_is_no_result_of_its_node(error: Exception) -> None:
    with pytest.raises(type(error)):
        await record(CTX, NODE, fail_by(error))
