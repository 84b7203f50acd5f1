"""Comparisons of two versions: the triggers that differ, in words."""

from typing import Any

from app.workflows.document import WorkflowDocument
from app.workflows.triggers.comparison import compare_versions

MORNINGS = {"kind": "schedule", "cron": "0 8 * * 1-5", "time_zone": "Europe/Berlin"}


def make_document(**triggers: dict[str, Any]) -> WorkflowDocument:
    nodes: list[dict[str, Any]] = [
        {"id": name, "type": "trigger", "config": config} for name, config in triggers.items()
    ]
    return WorkflowDocument.model_validate({"nodes": [*nodes, {"id": "rows", "type": "limit"}]})


async def list_changes(before: WorkflowDocument, after: WorkflowDocument) -> dict[str, tuple[str | None, ...]]:
    difference = await compare_versions(before, after)
    return {change.node: (change.before, change.after) for change in difference.triggers}


async def test_triggers_that_differ_are_compared_in_words() -> None:
    before = make_document(mornings=MORNINGS, calls={"kind": "webhook"}, same=MORNINGS)
    after = make_document(
        mornings={**MORNINGS, "enabled": False}, often={"kind": "interval", "every_s": 7_200}, same=MORNINGS
    )
    schedule = "every weekday at 8:00, Europe/Berlin"
    assert await list_changes(before, after) == {
        "mornings": (schedule, f"{schedule}, switched off"),
        "often": (None, "every 2 hours"),
        "calls": ("by a call of its address", None),
    }


async def test_a_trigger_that_cannot_be_read_has_no_words() -> None:
    broken = {"kind": "schedule", "cron": "at noon"}
    changes = await list_changes(make_document(mornings=MORNINGS), make_document(mornings=broken, new=broken))
    assert changes == {"mornings": ("every weekday at 8:00, Europe/Berlin", None)}


async def test_other_nodes_have_no_words() -> None:
    assert await list_changes(WorkflowDocument.model_validate({"nodes": []}), make_document()) == {}
