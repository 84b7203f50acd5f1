"""A service that one command started lasts until no other command uses it."""

import threading
from pathlib import Path

from tests.patience import HANG_GUARD_S

from app.cli.connection.service_use import ServiceUse


def test_nobody_waits_who_is_alone(tmp_path: Path) -> None:
    with ServiceUse(tmp_path) as use:
        with use.begin():
            pass
        use.wait_until_alone(lambda: (_ for _ in ()).throw(AssertionError("there is nobody else")))


def test_who_started_it_waits_for_who_uses_it_and_the_next_one_for_its_end(tmp_path: Path) -> None:
    told, alone, begun = threading.Event(), threading.Event(), threading.Event()
    end = threading.Event()

    def start_and_stop() -> None:
        with ServiceUse(tmp_path) as use:
            with use.begin():
                pass
            started.set()
            used.wait(HANG_GUARD_S)
            use.wait_until_alone(told.set)
            alone.set()
            end.wait(HANG_GUARD_S)

    def use_later() -> None:
        with ServiceUse(tmp_path) as use, use.begin():
            begun.set()

    started, used = threading.Event(), threading.Event()
    first = threading.Thread(target=start_and_stop, daemon=True)
    first.start()
    assert started.wait(HANG_GUARD_S)
    with ServiceUse(tmp_path) as second:
        with second.begin():
            used.set()
        assert told.wait(HANG_GUARD_S)
        assert not alone.is_set()
    assert alone.wait(HANG_GUARD_S)
    third = threading.Thread(target=use_later, daemon=True)
    third.start()
    assert not begun.is_set()
    end.set()
    assert begun.wait(HANG_GUARD_S)
    first.join(HANG_GUARD_S)
    third.join(HANG_GUARD_S)


def test_no_other_command_starts_a_service_meanwhile(tmp_path: Path) -> None:
    begun = threading.Event()

    def use_too() -> None:
        with ServiceUse(tmp_path) as use, use.begin():
            begun.set()

    with ServiceUse(tmp_path) as first:
        with first.begin():
            other = threading.Thread(target=use_too, daemon=True)
            other.start()
            assert not begun.is_set()
        # Both use it now.
        assert begun.wait(HANG_GUARD_S)
    other.join(HANG_GUARD_S)
