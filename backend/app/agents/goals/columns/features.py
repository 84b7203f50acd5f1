"""Features of a column as the target of a goal, for `column_ranking`: numbers of about 0 to 1 by name."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from app.agents.goals.aims.classifier import Aim, classify_aim
from app.agents.goals.clauses import Part, goal_words
from app.agents.goals.columns.evidence import Link, distinctive_stems, find_evidence, make_word_table
from app.agents.goals.columns.name_score import NAMED_SCORE, score_column
from app.agents.goals.goal import Goal
from app.agents.goals.lexicon.concept_matches import ConceptMatch, asked_concepts, stored_concepts
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.tables.quantities import asked_quantities, stored_quantities
from app.agents.goals.tables.units import Unit, column_unit, find_unit
from app.agents.goals.words.outcome_words import OUTCOMES
from app.agents.goals.words.stemming import stem, stems
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set

MAX_VALUES = 8
"""Values of a column that are looked up in the lexicon: those of columns with few values."""
MAX_NEXT_CONCEPTS = 4
"""Concepts besides the strongest that add to the evidence: several parts of the lexicon hold similar lines."""
_STRONG_MATCH = 0.45
"""Strength of a concept from which it stands for a name: a phrase of its own for a name of two words."""
_WEAK_MATCH = 0.2
"""Strength of a concept, or share of a clear name, below which a column hardly has to do with the goal."""
_MOSTLY_MISSING = 0.5
"""Share of missing values from which a column is rather known of some rows only, after their outcome."""
_SELECTS_ROWS = re.compile(r"\b(?:who|which|whether|if|will|flag|spot)\b", re.IGNORECASE)
_ASKS_AMOUNT = re.compile(r"\bhow (?:much|long|many|far|high|old|big|late|fast|good|bad)\b", re.IGNORECASE)
_CODE = re.compile(r"(?:_id|id|_no|_nr|code|zip|key)$", re.IGNORECASE)
_FACTS = frozenset(
    map(
        stem,
        word_set("id code zip lat lon latitude longitude name address age gender sex year month day first"),
    )
)
"""Stems of names of columns that people know beforehand and seldom predict."""
_CAUSES_BEFORE = re.compile(
    r"^\W*(?:does|do|did|is|are|can|could|will|how do|how does|how did)\b(?P<cause>.{2,80}?)"
    r"\b(?:affect|influence|impact|drive|matter|make|makes|cause|push|raise|lower|increase|decrease|change|help|hurt|reduce"
    r"|improve|lead|keep|determine|explain|bad for|good for|worth|related|linked|correlat\w{0,4}"
    r"|have an? (?:effect|impact|influence))",
    re.IGNORECASE,
)
"""The subject of a question about an effect: "does rain make our trams late" asks about lateness."""


@dataclass(frozen=True)
class GoalWords:
    """A goal on some tables with what is looked up once for all columns."""

    goal: Goal
    tables: tuple[TableProfile, ...]

    @cached_property
    def aims(self) -> Mapping[Aim, float]:
        return classify_aim(self.goal, self.tables)

    @cached_property
    def concepts(self) -> Mapping[int, ConceptMatch]:
        return asked_concepts(self.goal.text, goal_words(self.goal.target_text))

    @cached_property
    def input_stems(self) -> frozenset[str]:
        return frozenset(stems(self.goal.input_text))

    @cached_property
    def excluded_stems(self) -> frozenset[str]:
        return frozenset(part for phrase in self.goal.exclusions for part in stems(phrase))

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        return tuple(unit for word in words(self.goal.text) if (unit := find_unit(word)))

    @cached_property
    def cause_stems(self) -> frozenset[str]:
        match = _CAUSES_BEFORE.search(self.goal.text)
        return frozenset(stems(match["cause"])) if match else frozenset()

    @cached_property
    def quantities(self) -> frozenset[str]:
        return asked_quantities(self.goal.text)

    @cached_property
    def selects_rows(self) -> bool:
        return bool(_SELECTS_ROWS.search(self.goal.text))

    @cached_property
    def asks_amount(self) -> bool:
        return bool(_ASKS_AMOUNT.search(self.goal.text))


def name_scores(goal: Goal, columns: Sequence[tuple[TableProfile, Column]]) -> list[float]:
    return [score_column(goal, column, table.subject) for table, column in columns]


def column_features(
    goal: GoalWords, table: TableProfile, column: Column, name_score: float, best_name_score: float
) -> dict[str, float]:
    """Return the features of a column. Those that are missing are 0."""
    features = {
        **_name_features(name_score, best_name_score),
        **_word_features(goal, table, column),
        **_concept_features(goal, table, column),
        **_type_features(goal, column),
        **_quantity_features(goal, column),
        **_place_features(goal, table, column),
    }
    return {name: float(value) for name, value in features.items() if value}


def no_column_features(
    goal: GoalWords, tables: Sequence[TableProfile], rows: Sequence[Mapping[str, float]]
) -> dict[str, float]:
    """Return the features of the case that none of the columns, with the features `rows`, is meant."""
    strengths = (row.get(key, 0.0) for row in rows for key in ("concept_head", "concept_beside"))
    features = {
        "is_none": 1.0,
        "none_is_generic": any(goal.goal.names_no_target(table.subject) for table in tables),
        "none_without_concept": max(strengths, default=0.0) < _WEAK_MATCH,
        "none_without_name": max((row.get("name", 0.0) for row in rows), default=0.0) < _WEAK_MATCH,
        "none_explores": goal.goal.is_exploratory,
        **{f"none_{aim}": goal.aims[aim] for aim in ("explore", "unserved", "nonsense")},
    }
    return {name: float(value) for name, value in features.items() if value}


def _name_features(score: float, best: float) -> dict[str, float]:
    return {
        "name": score / NAMED_SCORE,
        "is_best_name": score == best and score > 0,
        "share_of_best_name": score / (best + 0.5),
    }


_LINK_KEYS = {
    Link.NAME: "name",
    Link.SHORT_FORM: "name",
    Link.SPELLING: "name",
    Link.CONCEPT: "synonym",
    Link.VALUE: "class",
    Link.VALUE_CONCEPT: "class",
}


def _word_features(goal: GoalWords, table: TableProfile, column: Column) -> dict[str, float]:
    """Return by which kind of match, and in which part of the request, words of the goal mean the column."""
    evidence = find_evidence(make_word_table(goal.goal.target_text), column, table.subject)
    features: dict[str, float] = {}
    own = distinctive_stems(column.name, table.subject)
    for match in evidence.matches:
        if kind := _LINK_KEYS.get(match.link):
            key = f"{kind}_{_PLACES[match.word.part]}"
            features[key] = 1.0
            if match.term == own[-1] and match.word.part is Part.HEAD:
                features["heads_agree"] = 1.0
    # A value covers its column whole, which says nothing about the name.
    is_named = any(match.link in (Link.NAME, Link.SHORT_FORM, Link.SPELLING) for match in evidence.matches)
    features["coverage"] = evidence.coverage if is_named else 0.0
    return features


_PLACES = {
    Part.HEAD: "at_head",
    Part.MODIFIER: "beside_head",
    Part.COMPLEMENT: "beside_head",
    Part.ENTITY: "at_rows",
    Part.CIRCUMSTANCE: "elsewhere",
}


def _quantity_features(goal: GoalWords, column: Column) -> dict[str, float]:
    quantities = stored_quantities(column)
    is_amount = column.is_number and column.distinct != 2
    agrees = bool(goal.quantities & quantities)
    return {
        "quantity_agrees": agrees and (is_amount or "place" in quantities),
        "quantity_differs": bool(goal.quantities) and bool(quantities) and not agrees and is_amount,
        "quantity_unknown": bool(goal.quantities) and not quantities and is_amount,
        "flag_beside_quantity": bool(goal.quantities) and not is_amount,
    }


def _concept_features(goal: GoalWords, table: TableProfile, column: Column) -> dict[str, float]:
    """Return how strongly the goal asks for what the column stores, by the part of the words that do."""
    stored = stored_concepts(distinctive_stems(column.name, table.subject))
    values: dict[int, float] = {}
    if column.has_few_values and not column.is_number:
        for value in column.top[:MAX_VALUES]:
            for concept, share in stored_concepts(tuple(stems(str(value)))).items():
                values[concept] = max(values.get(concept, 0.0), share)
    features = dict.fromkeys(
        ("concept_head", "concept_beside", "concept_elsewhere", "value_concept", "value_elsewhere"), 0.0
    )
    for concept, match in goal.concepts.items():
        name_key, value_key = _keys_by_part(match.part)
        for key, share in ((name_key, stored.get(concept, 0.0)), (value_key, values.get(concept, 0.0))):
            features[key] = max(features[key], share * match.strength)
    weights = sorted(
        (
            stored.get(concept, 0.0) * match.strength * match.part.value
            for concept, match in goal.concepts.items()
        ),
        reverse=True,
    )
    features["next_concepts"] = min(1.0, sum(weights[1:MAX_NEXT_CONCEPTS]))
    features["has_strong_concept"] = features["concept_head"] > _STRONG_MATCH
    return features


def _keys_by_part(part: Part) -> tuple[str, str]:
    if part is Part.HEAD:
        return "concept_head", "value_concept"
    if part.value >= Part.COMPLEMENT.value:
        return "concept_beside", "value_concept"
    return "concept_elsewhere", "value_elsewhere"


def _type_features(goal: GoalWords, column: Column) -> dict[str, float]:
    is_flag = column.distinct == 2
    is_amount = column.is_number and not is_flag
    is_category = not is_amount and not is_flag and column.hint == "category"
    asks_class, asks_number = goal.goal.kind == "classification", goal.goal.kind == "regression"
    threshold, unit = goal.goal.threshold, column_unit(column.name)
    aims = {aim: goal.aims[aim] for aim in ("drivers", "forecast")}
    return {
        **{f"flag_{aim}": is_flag * share for aim, share in aims.items()},
        **{f"amount_{aim}": is_amount * share for aim, share in aims.items()},
        "is_no_target": not column.can_be_target,
        "is_identifier": column.hint == "id",
        "is_date": column.type == "datetime",
        "is_text": column.hint == "text",
        "is_flag": is_flag,
        "is_amount": is_amount,
        "is_category": is_category,
        "class_asked_of_flag": asks_class and is_flag,
        "class_asked_of_amount": asks_class and is_amount,
        "class_asked_of_category": asks_class and is_category,
        "number_asked_of_amount": asks_number and is_amount,
        "number_asked_of_flag": asks_number and is_flag,
        "threshold_of_amount": threshold is not None and is_amount,
        "threshold_in_range": threshold is not None and is_amount and column.spans(threshold.value),
        "has_unit_of_goal": unit is not None and any(other.dimension == unit.dimension for other in goal.units),
        "selected_by_flag": goal.selects_rows and is_flag,
        "amount_of_amount": goal.asks_amount and is_amount,
        "forecast_of_amount": goal.goal.lookahead is not None and is_amount,
    }


def _place_features(goal: GoalWords, table: TableProfile, column: Column) -> dict[str, float]:
    names = [other.name for other in table.columns]
    own = set(stems(column.name))
    place = names.index(column.name)
    return {
        # One or two letters stand in any text.
        "is_written": len(column.name) > 2 and column.name.casefold() in goal.goal.text.casefold(),
        "is_quoted": any(quoted.casefold() == column.name.casefold() for quoted in goal.goal.quoted),
        "is_last": place == len(names) - 1,
        "place": place / max(1, len(names) - 1),
        "is_first": place == 0,
        "is_code": bool(_CODE.search(column.name)),
        "is_outcome": bool(OUTCOMES & own),
        "is_fact": bool(_FACTS & own),
        "is_cause": bool(goal.cause_stems & own),
        "is_rarely_known": column.missing > _MOSTLY_MISSING,
        "is_input": bool(goal.input_stems & own),
        "is_excluded": bool(goal.excluded_stems & own),
    }
