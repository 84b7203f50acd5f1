"""The plan of cross-validation folds."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from app.errors import InvalidInput


class SplitKind(StrEnum):
    STRATIFIED = "stratified"
    GROUPED = "grouped"
    TIME = "time"
    RANDOM = "random"


@dataclass(frozen=True)
class FoldPlan:
    """The plan of cross-validation folds: the kind of the hold-out split, the number of folds and the seed.

    `equal_rows_together`: rows that repeat another implausibly stay on one side of every split.
    """

    kind: SplitKind
    count: int = 5
    seed: int = 0
    equal_rows_together: bool = False

    def to_json(self) -> dict[str, Any]:
        options = {"equal_rows_together": True} if self.equal_rows_together else {}
        return {"kind": self.kind.value, "count": self.count, "seed": self.seed, **options}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        try:
            return cls(
                SplitKind(value["kind"]),
                int(value.get("count", 5)),
                int(value.get("seed", 0)),
                bool(value.get("equal_rows_together")),
            )
        except (KeyError, ValueError) as error:
            raise InvalidInput("bad_folds", f"The fold plan is not valid: {error}.") from error
