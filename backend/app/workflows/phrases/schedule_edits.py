"""Schedules of a workflow: the one that it has is replaced, else a trigger is added."""

from collections.abc import Mapping
from typing import Any

from app.workflows.document import WorkflowDocument
from app.workflows.node_configs import Trigger
from app.workflows.phrases.change import ChangedDocument
from app.workflows.phrases.graph_edits import add_node, set_config
from app.workflows.schedule_text import describe_trigger


def set_trigger(document: WorkflowDocument, config: Mapping[str, Any]) -> ChangedDocument:
    """Replace the schedule, or add one.

    A workflow runs by one schedule unless somebody adds another by hand.
    """
    same = [
        node
        for node in document.nodes
        if node.type == "trigger" and node.config.get("kind") in ("schedule", "interval")
    ]
    summary = f"Run it {describe_trigger(Trigger.model_validate(config))}."
    if same and config["kind"] != "webhook":
        # The rule for missed runs stays, which the words do not speak of; time and zone are theirs.
        rest = {key: value for key, value in same[0].config.items() if key == "missed"}
        return ChangedDocument(set_config(document, same[0].id, {**rest, **config}), summary)
    return ChangedDocument(add_node(document, "trigger", config)[0], summary)


def add_schedule(document: WorkflowDocument, schedule: Mapping[str, Any], summary: str) -> ChangedDocument:
    scheduled = set_trigger(document, schedule)
    return ChangedDocument(scheduled.document, f"{summary} {scheduled.summary}")
