"""What the journal says about each part of a session, found by the shape of what was recorded.

Facts are found wherever a tool put them in its result. Results that an agent shapes freely (its own code, SQL)
are never searched: they could imitate an evaluation.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.reporting.evidence import Fact, RecordedCall, proving

FREE_FORM = frozenset({"run_python", "execute_sql", "ask_user"})
HOLD_OUT_NODE = "final_evaluation"
TUNING_NODE = "hyperparameter_tuning"

_SPLIT = ("train_rows", "holdout_rows")
_EDA = ("findings", "leaks")
_FRAME = ("effects", "recipe", "added")
_FIT = ("fold_scores", "estimator", "score")
_COMPARISON = ("leaderboard", "chosen", "metric")
_IMPORTANCE = ("importances", "metric")
_EVALUATION = ("on", "metrics", "rows")
_DEEPEST = 5


@dataclass(frozen=True)
class Found:
    """None or empty where a session never came so far. `session` cites what is known of the session itself."""

    session: Fact
    split: Fact | None
    eda: Fact | None
    frames: Sequence[Fact]
    fits: Sequence[Fact]
    """The newest of each name, in the order in which they first came."""
    comparison: Fact | None
    importance: Fact | None
    final: Fact | None
    """The evaluation on the hold-out, from the node that may open it."""
    final_calls: Sequence[RecordedCall]
    last_fit_step: int | None

    @property
    def problem(self) -> Fact | None:
        return self.split.at("problem") if self.split else None

    @property
    def metric(self) -> str:
        """The name of the metric that decided, or an empty string."""
        for fact in (self.final, self.comparison, self.problem):
            if fact and fact.text("metric"):
                return fact.text("metric")
        return ""

    @property
    def chosen(self) -> Fact | None:
        """The name of the model that was judged on the hold-out."""
        named = [self.final.at("model"), self.final.at("name")] if self.final else []
        if self.comparison:
            named += [self.comparison.at("chosen"), self.comparison.at("best")]
        return next((fact for fact in named if fact and isinstance(fact.value, str)), None)

    def fit_of(self, name: str) -> Fact | None:
        return next((fit for fit in self.fits if fit.text("name") == name), None)


def gather(calls: Sequence[RecordedCall], session: Fact) -> Found:
    searched = [call for call in proving(calls) if call.tool not in FREE_FORM and call != session.call]
    finals = [fact for fact in _shaped(searched, _EVALUATION) if _opened(fact)]
    fits = list(_shaped(searched, _FIT))
    return Found(
        session=session,
        split=_newest(_shaped(searched, _SPLIT)),
        eda=_newest(_shaped(searched, _EDA)),
        frames=list(_shaped(searched, _FRAME)),
        fits=list({fit.text("name"): fit for fit in fits}.values()),
        comparison=_newest(_shaped(searched, _COMPARISON)),
        importance=_newest(_shaped(searched, _IMPORTANCE)),
        final=finals[-1] if finals else None,
        final_calls=[fact.call for fact in finals],
        last_fit_step=max((fit.call.seq for fit in fits), default=None),
    )


def _opened(fact: Fact) -> bool:
    return fact.text("on") == "hold-out" and fact.call.node == HOLD_OUT_NODE


def _newest(facts: Iterator[Fact]) -> Fact | None:
    return max(facts, key=lambda fact: fact.call.seq, default=None)


def _shaped(calls: Sequence[RecordedCall], keys: Sequence[str]) -> Iterator[Fact]:
    for call in calls:
        yield from _within(Fact(call, "", call.result), keys, _DEEPEST)


def _within(fact: Fact, keys: Sequence[str], depth: int) -> Iterator[Fact]:
    if isinstance(fact.value, Mapping) and all(key in fact.value for key in keys):
        yield fact
    elif depth:
        for child in fact.items():
            if isinstance(child.value, (Mapping, list)):
                yield from _within(child, keys, depth - 1)
