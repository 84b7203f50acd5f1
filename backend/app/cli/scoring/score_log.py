"""Scores of an evaluation, one JSON line per item, so that an interrupted evaluation can resume."""

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from threading import Lock

from app.cli.scoring.suite import Suite, SuiteItem
from app.errors import InvalidInput


@dataclass(frozen=True)
class Score:
    """One item, judged. `digest`: of the item and its tables; `models`: the chat models that answered."""

    item: str
    kind: str
    digest: str
    right: bool
    misses: list[str]
    status: str
    tokens: int
    cost_usd: float
    unpriced_calls: int
    seconds: float
    session: str
    models: list[str]
    calls: int = 0
    """Calls of chat models, without the steps that offline policies do."""
    prompt_tokens: int = 0


class Record:
    """A file of scores; what is written is on the disk when `append` returns."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()

    def append(self, score: Score) -> None:
        with self._lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(score), ensure_ascii=False) + "\n")
                file.flush()
                os.fsync(file.fileno())

    def scores(self) -> list[Score]:
        """All that are whole, oldest first; a line that was cut off by a crash is as if it had not been.

        Raises InvalidInput for a file that is something else.
        """
        if not self.path.exists():
            return []
        scores = []
        lines = self.path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, start=1):
            try:
                scores.append(Score(**json.loads(line)))
            except (ValueError, TypeError) as error:
                # Only the last line can be half written; another one that is wrong is not this program's.
                if number < len(lines):
                    names = ", ".join(column.name for column in fields(Score))
                    raise InvalidInput(
                        "bad_record", f"{self.path}, line {number} is no score; a score has {names}."
                    ) from error
        return scores

    def drop_partial_line(self) -> None:
        """Cut off a last line that is not whole, so that the next one begins a line of its own."""
        if self.path.exists() and not (text := self.path.read_text(encoding="utf-8")).endswith("\n"):
            self.path.write_text(text[: text.rfind("\n") + 1], encoding="utf-8")


def newest_scores(suite: Suite, items: Iterable[SuiteItem], scores: Iterable[Score]) -> dict[str, Score]:
    """The newest score of each item that is still the same item over the same tables."""
    digests = {item.id: suite.digest(item) for item in items}
    return {score.item: score for score in scores if digests.get(score.item) == score.digest}
