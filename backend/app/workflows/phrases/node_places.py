"""Places of new nodes: beside one that words name, else at the end of the workflow."""

import re
from typing import NamedTuple

from app.workflows.document import Node, WorkflowDocument
from app.workflows.node_types import NODE_TYPES
from app.workflows.phrases.change import Change, ChangedDocument, ChangeQuestion, choose_node
from app.workflows.phrases.graph_edits import insert_after, insert_before
from app.workflows.phrases.node_search import find_nodes
from app.workflows.validation import find_outputs

BESIDE = re.compile(
    r"\b(?P<side>before|after|behind)(?: the| each| every)? (?P<place>[\w\"' -]{1,80}?)"
    r"(?:[,.;]|$| step\b| node\b)"
)


class PlacedDocument(NamedTuple):
    """A document with a node put beside another one. `place`: such as `after filter`."""

    document: WorkflowDocument
    place: str


def place_beside(
    request: str, document: WorkflowDocument, changed: WorkflowDocument, node_id: str
) -> PlacedDocument | ChangeQuestion | None:
    """Put a new node where the request says, or ask; None where it names no place."""
    beside = BESIDE.search(request)
    places = find_nodes(beside["place"], document) if beside else []
    if beside is None or not places:
        return None
    place = choose_node(places, beside["place"], document)
    if isinstance(place, ChangeQuestion):
        return place
    inserted = insert_beside(changed, node_id, beside["side"], place)
    if isinstance(inserted, ChangeQuestion):
        return inserted
    return PlacedDocument(inserted, f"{beside['side']} {place.id}")


def insert_beside(
    document: WorkflowDocument, node_id: str, side: str, place: Node
) -> WorkflowDocument | ChangeQuestion:
    """Put a node beside another. Before one that takes no input there is no place."""
    if side != "before":
        return insert_after(document, node_id, place.id)
    if NODE_TYPES[place.type].max_inputs == 0:
        others = tuple(node.id for node in document.nodes if node.id != node_id)
        return ChangeQuestion(
            f"{place.id} takes no input, so nothing comes before it. After which step?", others
        )
    return insert_before(document, node_id, place.id)


def place_node(request: str, document: WorkflowDocument, changed: WorkflowDocument, node_id: str) -> Change:
    """Put a new node where the words say, by default at the end."""
    between = re.search(r"\bbetween .{1,80} and (?:the )?(?P<place>.{1,80})$", request)
    if between is not None:
        place = choose_node(find_nodes(between["place"], document), between["place"], document)
        if isinstance(place, ChangeQuestion):
            return place
        inserted = insert_beside(changed, node_id, "before", place)
        if isinstance(inserted, ChangeQuestion):
            return inserted
        return ChangedDocument(inserted, f"Add {node_id} before {place.id}.")
    placed = place_beside(request, document, changed, node_id)
    if isinstance(placed, ChangeQuestion):
        return placed
    if placed is not None:
        return ChangedDocument(placed.document, f"Add {node_id} {placed.place}.")
    outputs = [output for output in find_outputs(changed) if output != node_id]
    if len(outputs) > 1:
        return ChangeQuestion(f"After which step does {node_id} come?", tuple(outputs))
    if not outputs:
        return ChangeQuestion("This workflow has no table to work on. Add a dataset or a request first.")
    # A message at the end is sent about what the new step makes.
    end = outputs[0]
    is_message = next(node.type for node in document.nodes if node.id == end) in ("notify", "approve")
    insert = insert_before if is_message else insert_after
    return ChangedDocument(
        insert(changed, node_id, end), f"Add {node_id} {'before' if is_message else 'after'} {end}."
    )
