"""The lane of a message of a conversation: by its words, and by the pipeline that a sentence names."""

from collections.abc import Sequence
from typing import Protocol

from app.datasets.dataset_source import DatasetRef
from app.tools.conversation_workflows import MessageLane
from app.workflows.document import Node, WorkflowDocument, WorkflowEdge
from app.workflows.intent.classification import classify_intent
from app.workflows.phrases.pipelines import read_pipeline
from app.workflows.phrases.sentences import read_sentence
from app.workflows.phrases.work_steps import KnownModel

EDITS = (
    "It changes a step of the workflow.",
    "It changes a setting.",
    "It replaces a setting.",
    "It switches a part on or off.",
    "It puts an action beside a step.",
    "It puts something beside a step.",
    "It says how a step should be.",
)
"""Reasons of the lane of changes that only make sense for a step that there is."""
_ANSWER = WorkflowDocument(
    nodes=[
        Node(id="answer", type="payload"),
        Node(id="order", type="sort", config={"keys": [{"column": "answer"}]}),
    ],
    edges=[WorkflowEdge(source="answer", target="order")],
)
"""Any answer that words may be about: rows in an order, of unknown columns."""


class OwnedThings(Protocol):
    """Things that the words of a message may name: columns of a document, and models of its owner."""

    async def list_columns(self, document: WorkflowDocument) -> list[str]: ...

    async def list_models(self) -> list[KnownModel]: ...


async def classify_message(
    message: str,
    document: WorkflowDocument | None,
    datasets: Sequence[DatasetRef],
    owned: OwnedThings,
    workflow: str | None = None,
) -> MessageLane:
    """Classify a message. `document`: the workflow that the conversation is about, `workflow` its id."""
    intent = classify_intent(message, document)
    is_edit = intent.reason in EDITS
    models = await owned.list_models()
    pipeline = None if is_edit else await read_pipeline(message, datasets, owned.list_columns, models)
    lane = intent.lane
    if lane != "patch" and (pipeline is None or not pipeline.names_source):
        columns = await owned.list_columns(document) if document else []
        reading = read_sentence(message, document or _ANSWER, columns, "UTC", models)
        if reading.is_for_good and (document is not None or reading.is_scheduled):
            lane = "patch"
    return MessageLane(lane, intent.reason, is_edit, workflow, pipeline)
