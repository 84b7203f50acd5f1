"""Encodings of texts: similar meanings are near each other, whatever their words."""

import pytest

from app.agents.goals.words.sentence_encoder import DIMENSIONS, MAX_PIECES, encode, split_pieces


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("how heavy is it", "weight kg", "customer name"),
        ("That is a happy person", "That is a very happy person", "Today is a sunny day"),
        ("the delay of a flight", "minutes late", "tail number"),
    ],
)
def test_similar_meanings_are_nearer(text: str, near: str, far: str) -> None:
    encoded = encode([text, near, far])
    assert encoded[0] @ encoded[1] > encoded[0] @ encoded[2] + 0.1


def test_the_encoding_of_a_text_does_not_depend_on_its_batch() -> None:
    alone = encode(["price of a house"])[0]
    beside = encode(["a much longer text that is padded to beside it, of many words", "PRICE of a house"])[1]
    assert alone == pytest.approx(beside, abs=1e-4)


def test_texts_of_any_length_and_script_have_an_encoding() -> None:
    encoded = encode(["", "word " * 500, "日本語", "x" * 10_000])
    assert encoded.shape == (4, DIMENSIONS)
    assert (encoded**2).sum(axis=1) == pytest.approx([1.0] * 4, abs=1e-4)
    assert len(split_pieces("word " * 500)) == MAX_PIECES
    assert encode([]).shape == (0, DIMENSIONS)
