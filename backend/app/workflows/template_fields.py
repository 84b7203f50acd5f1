"""Values of nodes in texts: `{{node.rows}}`, `{{node.column}}`, `{{study.metric}}`."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from app.workflows.document import Node

FIELD = re.compile(r"\{\{\s*([A-Za-z0-9_-]+)\.([^{}]{1,200}?)\s*\}\}")
_BRACES = re.compile(r"\{\{[^{}]{0,300}\}\}")
STUDY_FIELDS = ("headline", "target", "metric", "value", "model_id")
"""What texts may name of a study, beside `status` and `error`."""
TEXTS = {"notify": ("subject", "text"), "chart": ("title",), "store": ("name",), "agent": ("prompt",)}
"""Type of a node -> those of its settings that are texts with values."""


class TemplateField(NamedTuple):
    """A value that a text names. `setting`: the one that holds the text."""

    setting: str
    node_id: str
    name: str


def list_fields(node: Node) -> Iterator[TemplateField]:
    """Yield the values that the texts of a node name."""
    for setting in TEXTS.get(node.type, ()):
        text = node.config.get(setting)
        if isinstance(text, str):
            for node_id, name in FIELD.findall(text):
                yield TemplateField(setting, node_id, name)


def list_misspelled(node: Node) -> Iterator[tuple[str, str]]:
    """Yield setting and text of what stands in double braces and names no value."""
    for setting in TEXTS.get(node.type, ()):
        text = node.config.get(setting)
        if isinstance(text, str):
            for braces in _BRACES.findall(text):
                if FIELD.fullmatch(braces) is None:
                    yield setting, braces
