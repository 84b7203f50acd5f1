"""Goals that ask what a target goes with: "What drives price?", "Why do customers leave?"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.agents.goals.words.vocabulary import word_set

_ASKING = word_set("what which whether how does do did is are")
_DRIVING = word_set(
    """
    drive drives drove driving influence influences influenced influencing affect affects affected affecting
    impact impacts impacted determine determines determined explain explains cause causes caused contribute
    contributes shape shapes decide decides decided matter matters mattered depend depends depended correlate
    correlates lead leads led predicts raise raises lower lowers
    """
)
"""Verbs of a driver, behind an asking word."""
_LEADING = word_set("lead leads led")
"""Those that are one only before `to`."""
_MOVING = word_set(
    """
    moves moved pushes pushed boosts boosted hurts hurt improves improved worsens worsened triggers triggered
    increases increased decreases decreased reduces reduced governs controls prevents prevented changes changed
    """
)
"""Verbs of a driver that stand right behind `what`: elsewhere they tell what rows do."""
_RELATED = word_set("related associated linked connected correlated tied dependent")
_MAKING = word_set("make makes made")
_CAUSES = word_set(
    """
    factor factors determinant determinants predictor predictors influencer influencers influences cause causes
    reason reasons driver drivers
    """
)
"""Nouns for drivers. Of `drivers` alone, people may be meant: see `_KEY`."""
_INPUTS = word_set("feature features variable variables column columns input inputs attribute attributes")
_TRAITS = word_set("characteristics traits circumstances conditions properties habits things")
_IMPORTANT = word_set("important importance relevant relevance")
_EFFECTS = word_set("effect effects impact influence bearing")
_KEY = word_set("key main major biggest top strongest important root underlying understand identify of behind")
_COUNTING = word_set("many count list common commonest frequent often frequently share percentage")
"""Words of a question about stored reasons or drivers."""
_PREDICTING = word_set("predict forecast classify estimate")
_MODELS = word_set("model models algorithm algorithms forecast forecasts")
_PREPOSITIONS = word_set("for on to of in behind with upon from")
_SKIPPED = word_set(
    "predicting explaining understanding the a an our my their its differences difference in variation"
)
_PRONOUNS = word_set("it them this that these those so")
_COURTESY = word_set("please can could would you help me us to i we want need like and then also kindly")
_MAX_DISTANCE = 8
"""Words between an asking word and the verb of a driver."""

_SENTENCE = re.compile(r"[^.;:!?]+")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class _Sentence:
    """A sentence of a goal with its words in lower case and their positions in the text."""

    text: str
    words: Sequence[str]
    starts: Sequence[int]

    def after(self, place: int) -> str:
        """Return the text from a word on."""
        return self.text[self.starts[place] :] if place < len(self.words) else ""


def asks_for_drivers(text: str) -> bool:
    """Test if a goal asks what its target goes with, perhaps besides a prediction."""
    return any(map(_is_about_drivers, _sentences(text)))


def name_driver_target(text: str) -> str:
    """Rewrite a goal that asks for drivers so that its target is the object of a verb: "what drives price"."""
    return " ".join(_rewrite(sentence) for sentence in _sentences(text))


def _sentences(text: str) -> Iterator[_Sentence]:
    for match in _SENTENCE.finditer(text):
        matches = list(_WORD.finditer(match[0]))
        if matches:
            words = [word[0].casefold() for word in matches]
            yield _Sentence(match[0], words, [word.start() for word in matches])


def _is_about_drivers(sentence: _Sentence) -> bool:
    words = sentence.words
    # "What are the most common reasons" counts reasons that are stored.
    if _COUNTING.intersection(words):
        return False
    if "why" in words:
        return True
    return _has_driving_verb(words) or _has_cause(words) or _asks_to_explain(words)


def _has_driving_verb(words: Sequence[str]) -> bool:
    for place, word in enumerate(words):
        if word not in _ASKING:
            continue
        near = words[place + 1 : place + 1 + _MAX_DISTANCE]
        # "Which leads will convert" is about leads.
        verb = next(
            (
                i
                for i, item in enumerate(near)
                if item in _DRIVING and (item not in _LEADING or near[i + 1 : i + 2] == ["to"])
            ),
            None,
        )
        # "Which model predicts best" asks about models, not about the data.
        if verb is not None and not _MODELS.intersection(near[:verb]):
            return True
        # "What moves the price" asks for drivers, "what do the trucks move" does not.
        if word == "what" and _MOVING.intersection(near[:1]):
            return True
        if word in ("what", "which") and _RELATED.intersection(near):
            return True
        is_made = _MAKING.intersection(near[: 3 if word in ("does", "do", "did") else 1])
        if is_made and word not in ("which", "is", "are"):  # "which payments are made by" is a passive
            return True
        if word == "which" and (_TRAITS | _INPUTS).intersection(near[:1]) and _MAKING.intersection(near):
            return True
    return False


def _has_cause(words: Sequence[str]) -> bool:
    distinct_words = set(words)
    # "Predict the reason" has a reason as its target.
    if distinct_words & _PREDICTING:
        return False
    if distinct_words & (_CAUSES - {"driver", "drivers"}) or (
        distinct_words & {"driver", "drivers"} and distinct_words & _KEY
    ):
        return True
    return bool(distinct_words & _IMPORTANT and distinct_words & _INPUTS) or bool(
        distinct_words & _EFFECTS and distinct_words & {"on", "upon"}
    )


def _asks_to_explain(words: Sequence[str]) -> bool:
    return next((word for word in words if word not in _COURTESY), "") == "explain"


def _rewrite(sentence: _Sentence) -> str:
    words = sentence.words
    if not _is_about_drivers(sentence):
        return sentence.text
    if "why" in words and "some" in words and {"more", "less"} & set(words) and "than" in words:
        return _name_compared(sentence)
    last = max(
        (i for i, word in enumerate(words) if word in _CAUSES | _IMPORTANT | _EFFECTS | _DRIVING | _RELATED),
        default=None,
    )
    if last is None:
        return sentence.text
    if set(words[last + 1 :]) <= _PRONOUNS and words[last + 1 :]:
        return _cut_pronoun(sentence)
    start = last + 1
    preposition = next((i for i in range(start, len(words)) if words[i] in _PREPOSITIONS), None)
    if words[last] in _DRIVING and not _CAUSES.intersection(words) and "correlate" not in words[last]:
        is_object = not _SKIPPED.intersection(words[start : start + 1]) or words[start : start + 1] == ["the"]
        if is_object and words[last] != "predicts":
            return sentence.text  # the object of the verb follows, which the clause parser finds
        preposition = start - 1
    if preposition is None:
        return sentence.text
    place = preposition + 1
    while place < len(words) and words[place] in _SKIPPED:
        place += 1
    target = sentence.after(place)
    return f"What drives the {target}" if target else sentence.text


def _name_compared(sentence: _Sentence) -> str:
    """Rewrite "why are some houses more expensive than others"."""
    words = sentence.words
    some, than = words.index("some"), words.index("than")
    compared = " ".join(word for word in words[some + 1 : than] if word not in ("more", "less", "much", "so"))
    return f"What makes {compared}"


def _cut_pronoun(sentence: _Sentence) -> str:
    """Leave out "and explain what drives it" behind the clause that names the target."""
    words = sentence.words
    cut = next((i for i, word in enumerate(words) if i and word in {*_ASKING, "why", "explain"}), len(words))
    return sentence.text[: sentence.starts[cut]] if cut < len(words) else sentence.text
