from app.cli.supervisor.service_part import MAX_QUICK_DEATHS, pause_before_restart_s


def test_a_part_that_died_once_starts_again_at_once() -> None:
    assert pause_before_restart_s(1) == 0


def test_pauses_grow_and_end() -> None:
    pauses = [pause_before_restart_s(deaths) for deaths in range(1, MAX_QUICK_DEATHS)]
    assert None not in pauses
    assert pauses == sorted(pauses, key=lambda pause: pause or 0)
    assert pause_before_restart_s(MAX_QUICK_DEATHS) is None
