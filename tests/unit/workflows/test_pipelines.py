"""Steps that a conversation runs once: nothing that lasts, and no request that changes something elsewhere."""

from typing import Any

import pytest

from app.errors import ToolRefused
from app.workflows.conversations.pipelines import Pipelines

NOTHING: Any = None
"""Services that a refused pipeline never reaches."""


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ({"type": "http_request", "config": {"method": "POST", "url": "https://example.com"}}, "only GET"),
        ({"type": "http_request", "config": {"method": "post", "url": "https://example.com"}}, "only GET"),
        ({"type": "notify", "config": {"channel": "email", "text": "Hello"}}, "no step of a pipeline"),
        ({"type": "store", "config": {"name": "copy"}}, "no step of a pipeline"),
        ({"type": "for_each", "config": {"column": "n", "nodes": []}}, "no step of a pipeline"),
        ({"config": {}}, "no step of a pipeline"),
    ],
)
async def test_a_step_that_lasts_or_sends_is_refused(step: dict[str, Any], reason: str) -> None:
    read = {"type": "read_dataset", "config": {}}
    with pytest.raises(ToolRefused, match=f"steps/1: .*{reason}"):
        await Pipelines(NOTHING, NOTHING).execute(NOTHING, "c1", [read, step])
