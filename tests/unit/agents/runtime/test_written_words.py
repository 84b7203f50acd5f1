"""Words of answers while they are written, for watchers from the beginning and from the middle."""

from app.agents.runtime.written_words import REPEAT_S, WrittenWords


def test_words_so_far_come_again_from_time_to_time() -> None:
    published: list[tuple[int, str]] = []
    times = iter([0.0, 0.4 * REPEAT_S, REPEAT_S, 1.4 * REPEAT_S])
    words = WrittenWords(lambda start, text: published.append((start, text)), lambda: next(times))
    for part in ("Once ", "upon ", "a ", "time"):
        words.add(part)
    assert published == [(0, "Once "), (5, "upon "), (0, "Once upon a "), (12, "time")]
