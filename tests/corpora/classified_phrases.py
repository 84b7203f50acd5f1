"""Verdicts of the rules of intent on the corpus."""

from dataclasses import dataclass

from tests.corpora.intent_phrases import IntentPhrase, load_phrases
from tests.corpora.tables import Half

from app.workflows.intent.classification import Intent, classify_intent


@dataclass(frozen=True)
class ClassifiedPhrase:
    phrase: IntentPhrase
    intent: Intent

    @property
    def is_right(self) -> bool:
        return self.intent.lane in self.phrase.lanes

    @property
    def is_wrong_patch(self) -> bool:
        return self.intent.lane == "patch" and not self.is_right


def classify_phrases(half: Half) -> list[ClassifiedPhrase]:
    return [ClassifiedPhrase(phrase, classify_intent(phrase.text)) for phrase in load_phrases(half)]
