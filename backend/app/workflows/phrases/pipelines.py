"""Sentences that name their own source: pipelines to run now, or new workflows."""

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from app.datasets.dataset_source import DatasetRef
from app.tools.context.conversation_workflows import MessagePipeline
from app.workflows.document import Node, WorkflowDocument
from app.workflows.intent.cues import POLITE
from app.workflows.intent.spelled_numbers import spell_out
from app.workflows.node_types import NODE_TYPES
from app.workflows.phrases.schedule_phrases import explain_no_schedule
from app.workflows.phrases.schedule_spans import split_schedule
from app.workflows.phrases.sentences import MAX_SENTENCE_CHARS, SentenceReading, read_sentence
from app.workflows.phrases.sources import SentenceSource, find_address, find_dataset, make_dataset_step
from app.workflows.phrases.work_steps import KnownModel

ListColumns = Callable[[WorkflowDocument], Awaitable[Sequence[str]]]


async def read_pipeline(
    message: str, datasets: Sequence[DatasetRef], list_columns: ListColumns, models: Sequence[KnownModel]
) -> MessagePipeline | None:
    """Read a sentence with a source and something to do with it; None for any other message.

    `datasets`: those of the conversation. The only one is the source of a sentence that names none.
    """
    words = re.sub(r"\s+", " ", message).strip(" .!")
    if len(words) > MAX_SENTENCE_CHARS:
        return None
    # Cut by length, so that names keep their capitals.
    words = words[len(words) - len(POLITE.sub("", words.lower())) :]
    words = spell_out(words)
    text, trigger, schedule = split_schedule(words, "UTC")
    naming = find_address(text) or find_dataset(text, datasets)
    if isinstance(naming, list):
        addresses = " and ".join(naming)
        return MessagePipeline(
            question=f"A new workflow begins with one source, and these are several: {addresses}."
        )
    source = naming or (
        SentenceSource(make_dataset_step(datasets[0]), text, False) if len(datasets) == 1 else None
    )
    if source is None:
        return None
    if naming and (reason := explain_no_schedule(words)):
        return MessagePipeline(question=reason)
    document = WorkflowDocument(nodes=[Node(id=source.step["type"], **source.step)])
    reading = read_sentence(source.words, document, await list_columns(document), "UTC", models)
    is_lasting = trigger is not None or reading.acts
    pipeline = MessagePipeline(
        source.step,
        ", ".join(part for part in (schedule, source.words) if part),
        names_source=naming is not None,
    )
    return _judge(pipeline, source, reading, is_lasting)


def _judge(
    pipeline: MessagePipeline, source: SentenceSource, reading: SentenceReading, is_lasting: bool
) -> MessagePipeline | None:
    """Say what is to be done: steps for now, a new workflow, a question, or nothing that is known here."""
    asks = reading.clauses > 0 or source.words.strip() == ""
    if not pipeline.names_source:
        # One clause about the only dataset is a question for a conversation rather than a workflow.
        does_more = reading.clauses > 1 or reading.is_scheduled or pipeline.words != source.words
        return pipeline if reading.is_whole and is_lasting and does_more else None
    if reading.unread:
        if is_lasting and (source.is_taken or reading.clauses):
            return _replace(pipeline, question=reading.make_question().text)
        return _replace(pipeline, words=source.words, steps=[source.step]) if source.is_taken else None
    steps = _list_steps(reading.document)
    if is_lasting or steps is None:
        return pipeline if asks else None
    return _replace(pipeline, words="", steps=steps) if asks or source.is_taken else None


def _replace(pipeline: MessagePipeline, **changes: Any) -> MessagePipeline:
    return MessagePipeline(**{**vars(pipeline), **changes})


def _list_steps(document: WorkflowDocument) -> list[dict[str, Any]] | None:
    """List the nodes of a chain of table steps; None for a graph with branches, or with other nodes."""
    for before, node in zip([None, *document.nodes], document.nodes, strict=False):
        inputs = document.edges_to(node.id)
        if before is None:
            continue
        if NODE_TYPES[node.type].step is None or [edge.source for edge in inputs] != [before.id]:
            return None
    return [{"type": node.type, "config": node.config} for node in document.nodes]
