"""The candidates of the first round, chosen by problem, size and time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.agents.frame_size import FrameSize
from app.modeling.problem.family_catalog import LINEAR_FAMILY, PLAIN_FAMILY, select_families
from app.modeling.problem.kinds import BASELINE, PLAIN

MIN_FAMILIES = 1
"""Families that are fitted beside the plain candidate, however short the time is."""
LOG_TARGET_FAMILIES = ("LightGBM", "LightGBMExtra", "Ridge")
"""Families that can be trained on the logarithm of the target."""


@dataclass(frozen=True)
class CandidateRequest:
    """A candidate as a training tool accepts it."""

    estimator: str
    name: str | None = None
    hyperparameters: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the arguments that differ from the tool's defaults."""
        arguments = {"name": self.name, "hyperparameters": dict(self.hyperparameters)}
        return {"estimator": self.estimator} | {key: value for key, value in arguments.items() if value}


def choose_candidates(
    kind: str,
    size: FrameSize,
    time_left_s: float,
    fit_slots: int,
    is_interpretable: bool = False,
    has_long_tail: bool = False,
    families: Sequence[str] = (),
) -> list[CandidateRequest]:
    """Choose the references and as many families as have time for a useful fit, at least one.

    `families`: only these, however long they take. `is_interpretable`: only a linear model, whose coefficients
    can be read. `has_long_tail`: the target has extreme values, so some families also fit its logarithm.
    """
    if families:
        requested = [form for name in families for form in _family_candidates(name, has_long_tail)]
        return [CandidateRequest(BASELINE), *requested]
    if is_interpretable:
        return [CandidateRequest(name) for name in (BASELINE, LINEAR_FAMILY[kind])]
    selected = select_families(kind, size.rows, size.columns)
    candidates: list[CandidateRequest] = []
    # The plain candidate is fitted in any case, so its time is not for the families.
    remaining_s = time_left_s * fit_slots - size.useful_fit_s(PLAIN_FAMILY.seconds_per_cell)
    for family in selected:
        useful_s = size.useful_fit_s(family.seconds_per_cell)
        for candidate in _family_candidates(family.name, has_long_tail):
            # One fit runs in one slot: free time of several slots together does not make it faster.
            if useful_s <= min(remaining_s, time_left_s):
                candidates.append(candidate)
                remaining_s -= useful_s
    if len(candidates) < MIN_FAMILIES:
        cheapest = sorted(selected, key=lambda family: family.seconds_per_cell)
        candidates = [CandidateRequest(family.name) for family in cheapest[:MIN_FAMILIES]]
    return [CandidateRequest(BASELINE), CandidateRequest(PLAIN), *candidates]


def _family_candidates(family: str, has_long_tail: bool) -> list[CandidateRequest]:
    """Return the candidates of a family: plain and, for a long-tailed target, on its logarithm."""
    on_log = CandidateRequest(family, f"{family}-log", {"on_log": True})
    return [CandidateRequest(family), *([on_log] if has_long_tail and family in LOG_TARGET_FAMILIES else [])]
