"""Questions for an effect in words: "do people with more overtime leave more often", "gender pay gap".

They compare rows by a cause; figures of the effect by groups of it are what they ask for.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_COMPARATIVES = (
    "more|less|fewer|better|worse|sooner|longer|shorter|higher|lower|older|younger|larger|bigger|smaller|greater"
    "|later|earlier|faster|slower|heavier|lighter|cheaper|dearer|stronger|weaker|richer|poorer|warmer|colder"
    "|healthier|happier|safer|likelier|easier|harder|oftener"
)
_COMPARATIVE = re.compile(rf"\b(?:{_COMPARATIVES})\b", re.IGNORECASE)
_YES_NO = re.compile(
    r"^\W{0,3}(?:do|does|did|are|is|have|has)\s(?P<rest>[^?!.;:,]{5,160})\W{0,3}$", re.IGNORECASE
)
_DIRECTED = (
    r"raises?|lowers?|increases?|decreases?|reduces?|improves?|worsens?|boosts?|shortens?|lengthens?|lifts?"
    r"|cuts?(?: down(?: on)?)?|prevents?|protects? (?:from|against)|helps?(?: (?:with|against))?|hurts?|harms?"
    r"|slows?(?: down)?|speeds? up|delays?|keeps?|stops?|makes?|leads? to|means?|goes? with|brings?"
)
"""Verbs of an effect with a direction. Those without one (`affect`, `drive`) ask what matters, for a model."""
_CAUSED = re.compile(
    rf"^\W{{0,3}}(?:do|does|did|can)\s(?P<cause>[^?!.;:,]{{3,60}}?)\s(?:(?:really|actually|also|ever|still) )?"
    rf"(?:{_DIRECTED})\s(?P<effect>[^?!.;:,]{{3,100}}?)\W{{0,3}}$",
    re.IGNORECASE,
)
_HOW_MUCH = re.compile(
    rf"^\W{{0,3}}(?:by )?how much (?P<word>{_COMPARATIVES}) (?:do|does|did|are|is)"
    r" (?P<rest>[^?!.;:,]{5,120}?)\W{0,3}$",
    re.IGNORECASE,
)
_VERSUS = re.compile(
    r"^\W{0,3}(?P<cause>\w[\w-]{1,30}(?: \w[\w-]{1,30})?)"
    r" (?:versus|vs\.?|or|against|compared (?:to|with))"
    r" (?P<other>\w[\w-]{1,30})(?:,|:| -)\s?(?:who|which|what)(?: of them)?"
    r" (?P<effect>[^?!.;:,]{3,80}?)\W{0,3}$",
    re.IGNORECASE,
)
_GAP = re.compile(
    r"^\W{0,3}(?:(?:is|was) there )?(?:an? |any |the )?"
    r"(?P<cause>\w{2,30}) (?P<effect>\w{2,30}(?: \w{2,30})?) gap\W{0,3}$",
    re.IGNORECASE,
)
_THAN = re.compile(r"\s(?:than|compared (?:to|with))\s[^?!.;:,]*$", re.IGNORECASE)
_LINKING = re.compile(
    r"^(?:(?:more|less) )?(?:people |anyone |somebody |us )?(?:from|the (?:chance|risk|odds) of)\s",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d")
MAX_VERB_WORDS = 3
"""Words between the subject and the comparative: "sell for | less"."""


class EffectPhrases(NamedTuple):
    """The words for the groups that are compared, and those for what is compared."""

    cause: str
    effect: str


def find_effect_phrases(text: str) -> Iterator[EffectPhrases]:
    """Yield the ways to split a question for an effect in two, the plainest first; none for other goals.

    Where the subject of a sentence ends is not known: the columns that the parts mean decide.
    """
    # A number or several causes make another question: "do flats above 80 m2 rent faster".
    if _NUMBER.search(text):
        return
    for form in (_VERSUS, _GAP):
        if match := form.search(text):
            yield EffectPhrases(match["cause"], match["effect"])
            return
    if match := _HOW_MUCH.search(text):
        yield from _split_subject(f"{match['rest']} {match['word']}")
        return
    if match := _CAUSED.search(text):
        if not re.search(r"\b(?:and|or)\b", match["cause"]):
            yield EffectPhrases(match["cause"], _LINKING.sub("", match["effect"]))
        if not _COMPARATIVE.search(match["effect"]):
            return
    if match := _YES_NO.search(text):
        yield from _split_subject(_THAN.sub("", match["rest"]))


def _split_subject(sentence: str) -> Iterator[EffectPhrases]:
    """Yield the splits before the last comparative of a sentence, and before the words of its verb."""
    matches = [*_COMPARATIVE.finditer(sentence)]
    if not matches:
        return
    # "More often" and "more likely to" end with the comparative that matters.
    before, behind = sentence[: matches[-1].start()].split(), sentence[matches[-1].start() :]
    for verb_words in range(MAX_VERB_WORDS + 1):
        subject = before[: len(before) - verb_words]
        if subject:
            verb = before[len(before) - verb_words :]
            # Of "drivers at the East depot with more shifts" the shifts tell the groups apart.
            degree = next((i for i, word in enumerate(subject) if _COMPARATIVE.fullmatch(word)), 0)
            yield EffectPhrases(" ".join(subject[degree:]), " ".join([*verb, behind]))
