"""The summary section: score, test set, comparison with the baseline, and verdict."""

from app.reporting.document import Block, Callout, Name, Paragraph, Piece, Section, Text, Tile, Tiles
from app.reporting.draft import ReportDraft, join_texts
from app.reporting.evidence import RecordedFact
from app.reporting.sections import answer
from app.reporting.sections.trading import edge_verdict

_OUTLOOKS = {"direction": "the direction of ", "change": "the change of ", "volatility": "the volatility of "}


def section(draft: ReportDraft) -> Section:
    final = draft.facts.final
    if final is None:
        blocks: list[Block] = [Callout("warn", _unfinished(draft))]
    else:
        result_blocks: list[Block] = [Paragraph(_answer(draft, final)), _tiles(draft, final)]
        verdict = _verdict(draft, final)
        # For prices the backtest comes first: a score above the baseline need not pay for trading costs.
        blocks = [verdict, *result_blocks] if draft.facts.backtest else [*result_blocks, verdict]
        blocks += _evidence(draft)
    return Section("summary", "Summary", [*blocks, *(Paragraph((remark,)) for remark in draft.remarks)])


def _evidence(draft: ReportDraft) -> list[Block]:
    """State the most important columns and the worst segment, in a sentence each."""
    helping, worst = draft.facts.helping_columns, draft.facts.worst_segments
    pieces: list[Piece] = []
    if helping:
        pieces += (
            "Most important columns: ",
            *join_texts([draft.render(entry.at("column")) for entry in helping[:3]]),
            ".",
        )
    if worst:
        pieces += (" The error is largest where ", *draft.render(worst[0].at("column")), " ")
        pieces += (*draft.render(worst[0].at("text")), ".")
    return [Paragraph(pieces)] if pieces else []


def headline(draft: ReportDraft) -> Text:
    """Return the result in one sentence."""
    if draft.facts.is_question:
        return answer.headline(draft)
    if draft.facts.final is None:
        return _unfinished(draft)
    traded = edge_verdict(draft)
    return (*traded, " ", *_answer(draft, draft.facts.final)) if traded else _answer(draft, draft.facts.final)


def _answer(draft: ReportDraft, final: RecordedFact) -> Text:
    facts = draft.facts
    target = facts.problem.at("target") if facts.problem else None
    score = final.at("metrics", facts.metric)
    baseline = final.at("baseline", facts.metric)
    bounds = draft.interval(score, draft.metric.style) if score else ()
    pieces: list[Piece] = []
    pieces += (draft.read(facts.chosen_model),) if facts.chosen_model else ("The chosen model",)
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
    pieces += (" on ", *draft.render(final.at("rows"), "integer"), *_test_set(draft, final))
    pieces += ("; the baseline without any column reaches ", *draft.score(baseline)) if baseline else ()
    if references := draft.facts.references:
        best = references[0]  # best first
        name = Name(best.content.name, code=False)
        pieces += (", the ", name, " ", *draft.score(best.at("score")))
    return (*pieces, ".")


def _outlook(draft: ReportDraft) -> str:
    """Return the words for the forecast quantity, to stand before the target's name."""
    outlook = draft.facts.problem.text("outlook") if draft.facts.problem else None
    if draft.facts.problem and draft.facts.problem.at("barriers"):
        return "whether trades end with a gain by "
    return _OUTLOOKS.get(outlook or "", "")


def _test_set(draft: ReportDraft, final: RecordedFact) -> Text:
    """Describe the test set: rows, or forecasts if each step is forecast."""
    horizon = draft.facts.problem.at("horizon") if draft.facts.problem else None
    if horizon is None or final.at("by_step") is None:
        return (" rows not used in training",)
    return (" forecasts of the next ", draft.read(horizon, "integer"), " rows, none of them used in training")


def _unfinished(draft: ReportDraft) -> Text:
    error = draft.facts.session.at("error", "detail")
    if error:
        return ("This session ended without a result: ", draft.read(error))
    if draft.facts.comparison:
        return (
            "Models were compared, but none was evaluated on the hold-out: every score below may be "
            "optimistic.",
        )
    return ("No model was evaluated in this session; the sections below show its intermediate results.",)


def _tiles(draft: ReportDraft, final: RecordedFact) -> Tiles:
    facts, style = draft.facts, draft.metric.style
    score = final.at("metrics", facts.metric)
    gain = final.at("baseline_difference")
    tiles = [
        Tile(
            f"Hold-out {'score' if draft.metric.greater_is_better else 'error'}",
            draft.score(score.at("value") if score else None),
            _tile_note("", draft.metric_name, draft.interval(score, style) if score else ()),
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
    if facts.split:
        rows = draft.render(facts.split.at("train_rows"), "integer")
        holdout_rows = draft.render(facts.split.at("holdout_rows"), "integer")
        tiles.append(Tile("Training rows", rows, ("and ", *holdout_rows, " held out")))
    if facts.comparison and facts.comparison.at("leaderboard"):
        count = draft.claims.derive(
            "count", [facts.comparison.at("leaderboard") or facts.comparison], "integer"
        )
        tiles.append(Tile("Candidates", (count,), ("with the baseline",)))
    return Tiles(tiles)


def _tile_note(before: str, name: Piece, bounds: Text) -> Text:
    return (before, name, ", ", *bounds) if bounds else (before, name)


_NO_BETTER_THAN_BASELINE = (
    "On the hold-out the model is not significantly better than the baseline. Do not use it: see the "
    "recommendations."
)
_DISAGREES = (
    "It beats the baseline, but hold-out and cross-validation disagree: read the limits before using it."
)
_CONFIRMED = (
    "It beats the baseline by more than chance explains, and cross-validation agrees with the hold-out."
)
_NO_BETTER_THAN_REFERENCES = (
    "It beats the baseline, but not every reference forecast by more than chance explains: one of those may do "
    "as well."
)
_BEATS = "It beats the baseline by more than chance explains."


def _verdict(draft: ReportDraft, final: RecordedFact) -> Callout:
    """Return the verdict in one line; for prices, the verdict of the backtest."""
    if draft.facts.backtest:
        return Callout("good" if draft.facts.backtest.content.edge else "warn", edge_verdict(draft))
    beats, agrees = final.at("beats_baseline"), final.at("agrees_with_cv")
    if beats is None or beats.value is not True:
        return Callout("warn", (_NO_BETTER_THAN_BASELINE,))
    if not all(reference.content.is_beaten for reference in draft.facts.references):
        return Callout("warn", (_NO_BETTER_THAN_REFERENCES,))
    if agrees is None:
        return Callout("good", (_BEATS,))
    return Callout("good", (_CONFIRMED,)) if agrees.value else Callout("warn", (_DISAGREES,))
