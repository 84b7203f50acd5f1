"""The lane of a message of a conversation: by its words, and by the pipeline that a sentence names."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

from app.datasets.dataset_source import DatasetRef
from app.tools.context.conversation_workflows import MessageLane, MessagePipeline, NamedWorkflow, RequestedRun
from app.workflows.document import Node, WorkflowDocument, WorkflowEdge
from app.workflows.intent.classification import Intent, classify_intent
from app.workflows.phrases.pipelines import read_pipeline
from app.workflows.phrases.run_phrases import RunWords, match_names
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
_SOURCE_CONFIDENCE = 0.9
"""Confidence where all clauses of a sentence with a source are understood, as where one says `always`."""


class OwnedThings(Protocol):
    """Things that the words of a message may name: columns of a document, and models of its owner."""

    async def list_columns(self, document: WorkflowDocument) -> list[str]: ...

    async def list_models(self) -> list[KnownModel]: ...


class LaneReading(NamedTuple):
    """The intent of a message. `is_edit`: of a step that there is."""

    intent: Intent
    is_edit: bool
    pipeline: MessagePipeline | None


async def classify_message(
    message: str,
    document: WorkflowDocument | None,
    datasets: Sequence[DatasetRef],
    owned: OwnedThings,
    workflow: str | None = None,
) -> MessageLane:
    """Classify a message. `document`: the workflow that the conversation is about, `workflow` its id."""
    reading = await _read_lane(message, document, datasets, owned)
    return MessageLane(reading.intent.lane, reading.intent.reason, reading.is_edit, workflow, reading.pipeline)


async def read_intent(
    message: str,
    document: WorkflowDocument | None,
    datasets: Sequence[DatasetRef],
    owned: OwnedThings,
    earlier: Sequence[str] = (),
) -> Intent:
    """Classify a message without a conversation. A sentence that names its source is judged by all its clauses.

    `datasets`: those that it may name. `earlier`: messages before it, newest last.
    """
    intent, _, pipeline = await _read_lane(message, document, datasets, owned, earlier)
    if pipeline is None or not pipeline.names_source:
        return intent
    if pipeline.question:
        return Intent(lane="unclear", confidence=1 - _SOURCE_CONFIDENCE, reason=pipeline.question)
    lane: Literal["execute", "patch"] = "execute" if pipeline.steps else "patch"
    reason = "It reads its own source now." if pipeline.steps else "It makes a workflow of its own source."
    return Intent(lane=lane, confidence=_SOURCE_CONFIDENCE, reason=reason)


async def _read_lane(
    message: str,
    document: WorkflowDocument | None,
    datasets: Sequence[DatasetRef],
    owned: OwnedThings,
    earlier: Sequence[str] = (),
) -> LaneReading:
    intent = classify_intent(message, document, earlier)
    is_edit = intent.reason in EDITS
    models = await owned.list_models()
    # An edit is about the steps that there are, whatever its words could be the source of.
    pipeline = None if is_edit else await read_pipeline(message, datasets, owned.list_columns, models)
    # The first words may ask for data where a later clause lasts: `sort it and send it to ops`.
    if intent.lane != "patch" and (pipeline is None or not pipeline.names_source):
        columns = await owned.list_columns(document) if document else []
        reading = read_sentence(message, document or _ANSWER, columns, "UTC", models)
        if reading.is_for_good and (document is not None or reading.is_scheduled):
            lasting = "All its clauses together are a lasting change."
            intent = Intent(lane="patch", confidence=_SOURCE_CONFIDENCE, reason=lasting)
    return LaneReading(intent, is_edit, pipeline)


def make_requested_run(
    words: RunWords, workflows: Sequence[NamedWorkflow], names: Sequence[str], lane: str
) -> RequestedRun | None:
    """Say which of the workflows a request to run one may name. `names`: theirs, in the same order.

    None for words that name no workflow, and for those which are a change (`run the report daily`) unless they
    say that it is a workflow. Without words all count.
    """
    if not words.name:
        return RequestedRun(workflows if words.says_workflow else (), says_workflow=words.says_workflow)
    match = match_names(words, names)
    says_workflow = words.says_workflow or words.is_quoted
    # Without the word other things may be run: only a name that there is makes it a request.
    if not says_workflow and (not match.places or lane == "patch"):
        return None
    matching = [workflows[place] for place in match.places]
    return RequestedRun(matching, is_named=True, says_workflow=says_workflow, is_guess=match.is_guess)
