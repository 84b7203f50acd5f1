"""The first sentence of an answer with its figures."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.reporting.document.blocks import AnswerFigure
from app.reporting.document.inline_elements import Text


@dataclass(frozen=True)
class Statement:
    """A first sentence with the figures that it states."""

    text: Text
    figures: Sequence[AnswerFigure]
