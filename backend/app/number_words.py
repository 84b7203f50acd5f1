"""Numbers in words, as messages write them: `seven`, `twenty-five`, `two thousand`."""

BELOW_TEN = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9}
TEENS = {
    **{"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16},
    **{"seventeen": 17, "eighteen": 18, "nineteen": 19},
}
TENS = {
    **{"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50},
    **{"sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90},
}
NUMBER_WORDS = {**BELOW_TEN, **TEENS, **TENS}
ABOVE_ONE = {word: number for word, number in NUMBER_WORDS.items() if number > 1}
"""Numbers without `one`, which is a pronoun as well: "the last one"."""
_HUNDREDS = {"hundred": 100, "dozen": 12}
_THOUSAND = "thousand"


def read_number_words(words: str) -> int:
    """Return a number in words or digits below a million. Raises KeyError for other words."""
    thousands = below = 0
    for word in words.lower().replace("-", " ").split():
        if word in ("a", "an"):
            below += 1
        elif word in _HUNDREDS:
            below = max(below, 1) * _HUNDREDS[word]
        elif word == _THOUSAND:
            # Only what stands before it counts in thousands: `two thousand five hundred`.
            thousands, below = max(below, 1) * 1_000, 0
        else:
            below += int(word) if word.isdigit() else NUMBER_WORDS[word]
    return thousands + below
