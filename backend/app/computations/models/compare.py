"""Comparison of the models of sessions on the rows of their hold-out."""

from typing import Any

from app.computations.cell_files.frames import read_frame, to_json_facts
from app.computations.cell_files.workspace import CellWorkspace
from app.json_types import JsonValue
from app.modeling.evaluation import paired_holdout
from app.modeling.evaluation.holdout_outputs import MemberOutputs
from app.modeling.problem.problem import Problem


def compare_on_holdout(
    workspace: CellWorkspace, members: list[dict[str, Any]], seed: int = 0, looks: int = 1
) -> JsonValue:
    """Compare the first member with each of the others; a `paired_facts.PairFacts` for each of these.

    `members`: `[{"problem", "threshold"}]`; inputs holdout_<index> and outputs_<index> of each of them.
    """
    first, *others = [_read_member(workspace, index, member) for index, member in enumerate(members)]
    return [to_json_facts(paired_holdout.compare_on_holdout(first, other, seed, looks)) for other in others]


def _read_member(workspace: CellWorkspace, index: int, member: dict[str, Any]) -> MemberOutputs:
    return MemberOutputs(
        Problem.from_json(member["problem"]),
        member["threshold"],
        read_frame(workspace, f"holdout_{index}"),
        read_frame(workspace, f"outputs_{index}"),
    )
