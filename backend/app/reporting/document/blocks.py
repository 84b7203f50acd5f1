"""The typed blocks of a report, as a closed union. A part of the report is a field of a block here, or a block
of its own with a place in `BLOCK_ORDER`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from app.reporting.document.elements import Callout, Element, Picture, ReportTable
from app.reporting.document.inline_elements import ClaimReference, Text


@dataclass(frozen=True)
class UnderstandingBlock:
    """The reading of the goal. `goal`: the user's words; `details`: examples, and what was settled how."""

    text: Text
    goal: Text = ()
    details: Sequence[Text] = ()
    kind: Literal["understanding"] = "understanding"


@dataclass(frozen=True)
class AnswerFigure:
    """A figure of the answer. `name` is stable: `typical_error`, `precision_per_hundred`, ... `unit`: the words
    after the amount; `series`: the name of the series of a forecast of several."""

    name: str
    value: ClaimReference
    unit: Text = ()
    low: ClaimReference | None = None
    high: ClaimReference | None = None
    time: ClaimReference | None = None
    series: Text = ()


@dataclass(frozen=True)
class AnswerBlock:
    """The answer in units. `text`: its first sentence, which stands alone elsewhere too."""

    text: Text
    details: Sequence[Text] = ()
    verdict: Callout | None = None
    figures: Sequence[AnswerFigure] = ()
    tables: Sequence[ReportTable] = ()
    pictures: Sequence[Picture] = ()
    kind: Literal["answer"] = "answer"


@dataclass(frozen=True)
class WordsBlock:
    """The answer in the words of a chat model, each number of it a claim."""

    paragraphs: Sequence[Text]
    kind: Literal["words"] = "words"


@dataclass(frozen=True)
class DriversBlock:
    """The columns that matter most, and their effects."""

    details: Sequence[Text] = ()
    tables: Sequence[ReportTable] = ()
    pictures: Sequence[Picture] = ()
    kind: Literal["drivers"] = "drivers"


@dataclass(frozen=True)
class Look:
    """One look at the data: a table or a picture with a sentence."""

    title: Text
    text: Text = ()
    tables: Sequence[ReportTable] = ()
    pictures: Sequence[Picture] = ()


@dataclass(frozen=True)
class LooksBlock:
    looks: Sequence[Look]
    kind: Literal["looks"] = "looks"


@dataclass(frozen=True)
class EvidenceBlock:
    """The evidence of the answer: rows, hold-out, baseline, checks, cautions."""

    items: Sequence[Text]
    kind: Literal["evidence"] = "evidence"


@dataclass(frozen=True)
class Assumption:
    """A condition of the answer, with the score if it holds and if it does not."""

    name: str
    text: Text
    holds: Text = ()
    otherwise: Text = ()


@dataclass(frozen=True)
class AssumptionsBlock:
    assumptions: Sequence[Assumption]
    kind: Literal["assumptions"] = "assumptions"


@dataclass(frozen=True)
class ActionsBlock:
    """Actions of the reader: how to use the answer, what would improve it, and its limits."""

    use: Sequence[Text] = ()
    improve: Sequence[Text] = ()
    limits: Sequence[Text] = ()
    kind: Literal["actions"] = "actions"


@dataclass(frozen=True)
class Sibling:
    """Another study of the same goal, what is different in it, and its answer."""

    name: Text
    difference: Text
    text: Text = ()


@dataclass(frozen=True)
class SiblingsBlock:
    siblings: Sequence[Sibling]
    kind: Literal["siblings"] = "siblings"


AppendixKind = Literal[
    "problem",
    "data",
    "split",
    "results",
    "forecast",
    "trading",
    "importances",
    "errors",
    "trials",
    "tuning",
    "code",
    "way",
    "questions",
]


@dataclass(frozen=True)
class AppendixBlock:
    """A part of the appendix, for whoever checks the report."""

    kind: AppendixKind
    title: str
    elements: Sequence[Element]


@dataclass(frozen=True)
class NotebookCell:
    """A cell of the notebook that reproduces the session: Markdown, or Python as text."""

    kind: Literal["prose", "code"]
    source: str


@dataclass(frozen=True)
class ReproductionBlock:
    """The facts needed to do the session again. `cells`: the notebook, if a model was evaluated."""

    elements: Sequence[Element] = ()
    cells: Sequence[NotebookCell] = ()
    kind: Literal["reproducibility"] = "reproducibility"


PageBlock = (
    UnderstandingBlock
    | AnswerBlock
    | WordsBlock
    | DriversBlock
    | LooksBlock
    | EvidenceBlock
    | AssumptionsBlock
    | ActionsBlock
    | SiblingsBlock
)
Block = PageBlock | AppendixBlock | ReproductionBlock

PAGE_TITLES: dict[str, str] = {
    "understanding": "What was understood",
    "answer": "Answer",
    "words": "In words",
    "drivers": "What matters",
    "looks": "Looks",
    "evidence": "What it rests on",
    "assumptions": "Assumptions",
    "actions": "What to do",
    "siblings": "Siblings",
}
"""Kinds of blocks on the pages for a reader, in their order, with their titles."""
BLOCK_ORDER: tuple[str, ...] = (*PAGE_TITLES, *get_args(AppendixKind), "reproducibility")
