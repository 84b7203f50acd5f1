"""The summary of turns before the window of a conversation."""

from app.threads.memory import MAX_LINE_CHARS, MAX_SUMMARY_CHARS, BeforeTurn, summarize


def turn(number: int, answer: str = "done", is_first: bool = False) -> BeforeTurn:
    return BeforeTurn(f"message\n{number}", answer, is_first)


def test_a_summary_has_a_line_for_each_turn_the_oldest_first() -> None:
    assert summarize([]) == ""
    assert summarize([turn(2), turn(1, is_first=True)]) == "- message 1 -> done\n- message 2 -> done"


def test_a_long_summary_leaves_out_the_oldest_turns_and_says_so() -> None:
    long = "x" * MAX_LINE_CHARS
    turns = [turn(number, long, is_first=number == 1) for number in range(100, 0, -1)]
    lines = summarize(turns).splitlines()
    assert lines[0] == "- (messages before these are left out)"
    assert lines[-1] == f"- message 100 -> {long}…"
    assert sum(len(line) + 1 for line in lines[1:]) <= MAX_SUMMARY_CHARS
    assert summarize([turn(2)]).startswith("- (messages before these are left out)")
