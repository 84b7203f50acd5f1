"""The answer first: how good, on what, compared with what."""

from app.reporting.document import Block, Callout, Name, Paragraph, Piece, Section, Text, Tile, Tiles
from app.reporting.evidence import Fact, parts
from app.reporting.sections import answer
from app.reporting.sections.context import Draft, listed
from app.reporting.sections.trading import verdict_of

_OUTLOOKS = {"direction": "the direction of ", "change": "the change of ", "volatility": "the volatility of "}


def section(draft: Draft) -> Section:
    final = draft.found.final
    if final is None:
        blocks: list[Block] = [Callout("warn", _unfinished(draft))]
    else:
        told: list[Block] = [Paragraph(_answer(draft, final)), _tiles(draft, final)]
        verdict = _verdict(draft, final)
        # Of prices the first words are whether trading pays: a score above a guess is no edge after costs.
        blocks = [verdict, *told] if draft.found.backtest else [*told, verdict]
        blocks += _evidence(draft)
    return Section("summary", "Summary", [*blocks, *(Paragraph((remark,)) for remark in draft.remarks)])


def _evidence(draft: Draft) -> list[Block]:
    """What it relies on and where it errs, in a sentence each."""
    helping = [each for each in parts(draft.found.importance, "importances") if each.value.get("helps")]
    worst = parts(draft.found.explanation, "segments", "worst")
    said: list[Piece] = []
    if helping:
        said += ("It relies most on ", *listed([draft.shown(each.at("column")) for each in helping[:3]]), ".")
    if worst:
        said += (" It errs most where ", *draft.shown(worst[0].at("column")), " ")
        said += (*draft.shown(worst[0].at("text")), ".")
    return [Paragraph(said)] if said else []


def headline(draft: Draft) -> Text:
    """The answer in one sentence."""
    if draft.found.asks:
        return answer.headline(draft)
    if draft.found.final is None:
        return _unfinished(draft)
    traded = verdict_of(draft)
    return (*traded, " ", *_answer(draft, draft.found.final)) if traded else _answer(draft, draft.found.final)


def _answer(draft: Draft, final: Fact) -> Text:
    found = draft.found
    target = found.problem.at("target") if found.problem else None
    score = final.at("metrics", found.metric)
    baseline = final.at("baseline", found.metric)
    bounds = draft.interval(score, draft.metric.style) if score else ()
    pieces: list[Piece] = []
    pieces += (draft.read(found.chosen),) if found.chosen else ("The chosen model",)
    pieces += (
        " predicts ",
        _outlook(draft),
        draft.read(target) if target else "the target",
        " with ",
        draft.metric_name,
        " of ",
    )
    pieces += draft.score(score.at("value") if score else None)
    pieces += (" (interval ", *bounds, ")") if bounds else ()
    pieces += (" on ", *draft.shown(final.at("rows"), "integer"), *_judged(draft, final))
    pieces += ("; guessing without any column reaches ", *draft.score(baseline)) if baseline else ()
    if references := parts(final, "references"):
        best = references[0]  # they stand in order
        name = Name(str(best.value["name"]), code=False)
        pieces += (", the ", name, " ", *draft.score(best.at("score")))
    return (*pieces, ".")


def _outlook(draft: Draft) -> str:
    """What of the target's future is told, before its name."""
    outlook = draft.found.problem.text("outlook") if draft.found.problem else None
    if draft.found.problem and draft.found.problem.value.get("barriers"):
        return "whether trades end with a gain by "
    return _OUTLOOKS.get(outlook or "", "")


def _judged(draft: Draft, final: Fact) -> Text:
    """What was judged: rows, or where each step is forecast every forecast for itself."""
    horizon = draft.found.problem.at("horizon") if draft.found.problem else None
    if horizon is None or final.at("by_step") is None:
        return (" rows that it had never seen",)
    return (" forecasts of the next ", draft.read(horizon, "integer"), " rows, none of which it had seen")


def _unfinished(draft: Draft) -> Text:
    error = draft.found.session.at("error", "detail")
    if error:
        return ("This session ended without a result: ", draft.read(error))
    if draft.found.comparison:
        return (
            "Models were compared, but none was judged on the hold-out: take every score below as optimistic.",
        )
    return ("No model was judged in this session; what follows is what was learned on the way.",)


def _tiles(draft: Draft, final: Fact) -> Tiles:
    found, style = draft.found, draft.metric.style
    score = final.at("metrics", found.metric)
    gain = final.at("baseline_difference")
    tiles = [
        Tile(
            f"Hold-out {'score' if draft.metric.greater_is_better else 'error'}",
            draft.score(score.at("value") if score else None),
            _note("", draft.metric_name, draft.interval(score, style) if score else ()),
        )
    ]
    if gain and gain.at("value"):
        tiles.append(
            Tile(
                "Gain over baseline",
                draft.score(gain.at("value")),
                ("interval ", *draft.interval(gain, style)),
            )
        )
    if found.split:
        rows = draft.shown(found.split.at("train_rows"), "integer")
        held = draft.shown(found.split.at("holdout_rows"), "integer")
        tiles.append(Tile("Training rows", rows, ("and ", *held, " held out")))
    if found.comparison and found.comparison.at("leaderboard"):
        count = draft.ledger.derive(
            "count", [found.comparison.at("leaderboard") or found.comparison], "integer"
        )
        tiles.append(Tile("Candidates", (count,), ("with the baseline",)))
    return Tiles(tiles)


def _note(before: str, name: Piece, bounds: Text) -> Text:
    return (before, name, ", ", *bounds) if bounds else (before, name)


_NOT_TOLD = "The model cannot be told from a guess on the hold-out. Do not use it: see the recommendations."
_DISAGREES = "It beats a guess, but hold-out and cross-validation disagree: read the limits before using it."
_FORESEEN = "It beats a guess by more than chance explains, and cross-validation foresaw the result."
_NEEDLESS = (
    "It beats a guess, but not every forecast without a model beyond chance: one of those may do as well."
)
_BEATS = "It beats a guess by more than chance explains."


def _verdict(draft: Draft, final: Fact) -> Callout:
    """Whether the result is worth anything, in one line; of prices, whether trading on it is."""
    if draft.found.backtest:
        return Callout("good" if draft.found.backtest.value["edge"] else "warn", verdict_of(draft))
    beats, agrees = final.at("beats_baseline"), final.at("agrees_with_cv")
    if beats is None or beats.value is not True:
        return Callout("warn", (_NOT_TOLD,))
    if any((each.value["difference"]["low"] or 0.0) <= 0 for each in parts(final, "references")):
        return Callout("warn", (_NEEDLESS,))
    if agrees is None:
        return Callout("good", (_BEATS,))
    return Callout("good", (_FORESEEN,)) if agrees.value else Callout("warn", (_DISAGREES,))
