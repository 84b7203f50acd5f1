"""Sentences of several clauses, each with the workflow that it means."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.corpora.tables import Half

_DIRECTORY = Path(__file__).parent / "pipelines"


@dataclass(frozen=True)
class PipelineSentence:
    """`nodes`: in the order in which they run, as `filter price > 50`.

    `trigger`: `cron ...`, `every 900` (seconds), or empty.
    `given`: what the conversation has: `nothing`, the table `orders`, an `answer` about it, or a `workflow`.
    `lane`: `ask` for a sentence that is to be asked about, which has no nodes.
    """

    given: Literal["nothing", "orders", "answer", "workflow"]
    words: str
    lane: Literal["patch", "execute", "ask"]
    nodes: Sequence[str]
    trigger: str


def load_pipeline_sentences(half: Half) -> list[PipelineSentence]:
    """Load the sentences of a half. Raises ValueError for one that belongs to the other."""
    sentences = []
    for line in (_DIRECTORY / half / "phrases.jsonl").read_text("utf-8").splitlines():
        sentence = PipelineSentence(**json.loads(line))
        digest = int(hashlib.sha256(f"{sentence.given}: {sentence.words}".encode()).hexdigest(), 16)
        if ("untuned" if digest % 2 else "tuned") != half:
            raise ValueError(f"{line} does not belong to the {half} half")
        sentences.append(sentence)
    return sentences
