"""Causes that a question states beside the effect it asks about: "does rain make our trams late".

The target is the effect; the columns of the causes are inputs, however clearly the goal names them.
"""

import re
from typing import NamedTuple

_MAX_CAUSE = 80
"""Characters of a cause: a clause of some twelve words."""
_CAUSE = rf"(?P<cause>[^.;:!?]{{2,{_MAX_CAUSE}}}?)"
_EFFECT = r"(?P<effect>[^.;:!?]{3,})"
_ADVERBS = r"(?:(?:really|actually|also|ever|still|even|always|indeed|perhaps|at all|somehow) )?"
_VERBS = (
    r"(?:affects?|influences?|impacts?|drives?|makes?(?! off)|causes?|push(?:es)?|raises?|lowers?|increases?"
    r"|decreases?|changes?|alters?|helps?(?: (?:with|against|to))?|hurts?|harms?|reduces?|improves?|worsens?"
    r"|leads? to|keeps?|determines?|explains?|predicts?|brings?|costs?|prevents?|stops?|means?|acts? on"
    r"|bears? on|decides?|slows?|boosts?|spoils?|ruins?|shortens?|lengthens?|triggers?|fills?|empt(?:y|ies)"
    r"|kills?|saves?|delays?|attracts?|contributes? to|adds? to|protects? (?:from|against)|guarantees?"
    r"|speeds? up|extends?|depress(?:es)?|dilutes?|lifts?|wrecks?|draws?|limits?|encourages?|discourages?"
    r"|deters?|invites?|holds? (?:back|down|up)|cuts?|pays? off in|relates? to|works? against|gives?|pulls?"
    r"|turns?|scares?|do to"
    r"|ha(?:s|ve) (?:(?:an?|any|much|some|no|big|strong) ){0,2}(?:effect|impact|influence|bearing) (?:up)?on"
    r"|matters? (?:for|to|when it comes to|in|if it comes to)|plays? (?:a|any) (?:role|part) (?:in|for))"
)
_AUXILIARY = r"(?:does|do|did|can)"
_DEPENDS = (
    r"(?:depends?|hinges?) (?:up)?on|comes? (?:down to|from)|ha(?:s|ve) (?:anything|something|much) to do with"
    r"|(?:goes|go|varies|vary|changes?|rises?|falls?|increases?|decreases?|grows?|drops?|shifts?) with"
    r"|differs? (?:by|between|with)|responds? to|reacts? to|results? from|stems? from|suffers? from"
)
_BLAMED = (
    r"(?:to blame for|responsible for|behind|guilty of|at fault for"
    r"|the (?:(?:main|real|only) )?(?:reason|cause|thing|factor) (?:for|of|why|that|which)|what"
    r"|(?:bad|good|harmful|useful) for|(?:related|linked|tied|connected|correlated|associated) (?:to|with))"
)
_OWED = (
    r"(?:(?:just|only|mostly|mainly|simply|all) )?(?:down to|due to|because of|thanks to|a matter of"
    r"|(?:caused|explained|driven|determined|influenced|affected) by)"
)
_ALONE = (
    r"(?:works?|helps?|matters?|pays? off|makes? (?:any|a|much|some) difference|makes? sense|do(?:es)? anything"
    r"|have (?:any|an|some|much) (?:effect|impact|influence)|worth (?:it|doing|the (?:money|effort|trouble))"
    r"|effective|useful|any good)(?: at all)?"
)
"""Verbs of a cause whose effect the sentence does not say: "do promotions work"."""
_HOW_FAR = r"(?:how (?:much |far |strongly |badly )?|to what extent |in what way |by how much )?"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"^(?:and )?is it {_CAUSE} (?:that|which|who) {_EFFECT}",
        rf"^(?:and )?(?:is|are|was|were) {_CAUSE} {_BLAMED} ?{_EFFECT}",
        rf"^(?:{_AUXILIARY}|is|are) {_CAUSE} {_ADVERBS}(?P<effect>){_ALONE}$",
        rf"^{_HOW_FAR}(?:is|are|was|were) (?P<effect>[^.;:!?,]{{3,60}}?) {_OWED} (?P<cause>[^.;:!?]+)",
        rf"^{_HOW_FAR}{_AUXILIARY} (?P<effect>[^.;:!?,]{{3,60}}?) (?:{_DEPENDS}) (?P<cause>[^.;:!?]+)",
        rf"^what {_AUXILIARY} {_CAUSE} {_ADVERBS}(?P<effect>do to [^.;:!?]{{3,}})",
        rf"^{_HOW_FAR}{_AUXILIARY} {_CAUSE} {_ADVERBS}(?P<effect>{_VERBS}\b [^.;:!?]{{3,}})",
        rf"^how much of (?P<effect>[^.;:!?]{{3,60}}?) (?:(?:is|are) {_OWED}|comes? from) {_CAUSE}$",
        rf"^(?P<effect>(?:{_AUXILIARY}|is|are) [^.;:!?]{{3,60}}?"
        r"\b(?:more|less|fewer|better|worse|higher|lower|longer|shorter)\b"
        rf"[^.;:!?]{{0,40}}?) (?:if|when|because of|due to) (?!it comes){_CAUSE}$",
        rf"^(?P<effect>(?:what|which things) {_VERBS} [^.;:!?,]{{3,}}), {_CAUSE}$",
    )
)
"""Forms of a sentence with a cause and an effect; the first one that holds decides."""
_NO_CAUSE = re.compile(
    r"^(?:it|they|he|she|we|you|i|this|that|these|those|there)\b"
    r"|\b(?:an?|the|to|of|ha(?:s|ve)|as|or|and|needs?)$",
    re.IGNORECASE,
)
"""A pronoun, or words that go on: no cause is stated there."""
_GUESSED_CAUSES = re.compile(
    r"^(?:and |or )?is it (?:because of |due to |down to )?(?P<cause>[^.;:!?]{2,})$", re.IGNORECASE
)
"""A sentence of causes alone, behind one of the effect: "Is it workload, children, drinking?"."""
_TAIL = re.compile(r",? or (?:is it|rather) (?P<cause>[^.;:!?]{2,60})$", re.IGNORECASE)
"""Another cause at the end: "..., or is it the weight"."""
_SENTENCE = re.compile(r"(?:[^.;:!?]|[.:](?=\d))+[.;:!?]*")


class StatedCauses(NamedTuple):
    """A goal without its causes, and the causes; empty if it states none."""

    effect: str
    causes: str


def split_causes(text: str) -> StatedCauses:
    """Split the causes that a goal states from the rest of it."""
    effects: list[str] = []
    causes: list[str] = []
    for match in _SENTENCE.finditer(text):
        sentence = match[0].strip(" .;:!?")
        effect, own = _split_sentence(sentence, has_effect=bool(effects))
        effects += [effect] if effect else []
        causes += own
    return StatedCauses(". ".join(effects), "; ".join(causes)) if causes else StatedCauses(text, "")


def _split_sentence(sentence: str, has_effect: bool) -> tuple[str, list[str]]:
    causes: list[str] = []
    if tail := _TAIL.search(sentence):
        causes, sentence = [tail["cause"]], sentence[: tail.start()]
    for form in _FORMS:
        if (match := form.match(sentence)) and not _NO_CAUSE.search(match["cause"].strip()):
            effect = match["effect"].strip()
            # "Make trams late" would be an order: behind `what` it is read as a question for its object.
            return f"what {effect}" if re.match(_VERBS, effect, re.IGNORECASE) else effect, [
                *causes,
                match["cause"],
            ]
    if has_effect and (match := _GUESSED_CAUSES.match(sentence)):
        return "", [*causes, match["cause"]]
    return sentence, causes
