"""The corpus of intent is whole, and the rules keep to it."""

from tests.corpora.classified_phrases import classify_phrases
from tests.corpora.intent_phrases import load_phrases


def test_there_are_300_phrases_of_which_150_are_untuned() -> None:
    tuned, untuned = load_phrases("tuned"), load_phrases("untuned")
    texts = {phrase.text.lower() for phrase in (*tuned, *untuned)}
    assert len(texts) == len(tuned) + len(untuned) >= 300
    assert len(untuned) >= 150


def test_each_lane_has_phrases_in_both_halves() -> None:
    for phrases in (load_phrases("tuned"), load_phrases("untuned")):
        for lane, least in (("execute", 60), ("patch", 60), ("unclear", 8)):
            assert sum(phrase.lanes == {lane} for phrase in phrases) >= least


def test_no_wish_for_data_becomes_a_patch_and_95_percent_are_right() -> None:
    """Counts alone, so that a failure shows nothing of the untuned half."""
    for half in ("tuned", "untuned"):
        classified = classify_phrases(half)
        wrong_patches = sum(entry.is_wrong_patch for entry in classified)
        right = sum(entry.is_right for entry in classified)
        assert (wrong_patches, right >= 0.95 * len(classified)) == (0, True), half
