import pytest
from pydantic import ValidationError

from app.auth.schemas import KeyCreate, Registration

PASSWORD = "correct horse battery"


def test_an_address_is_kept_in_lower_case() -> None:
    assert Registration(email="Ada@Example.COM", password=PASSWORD).email == "ada@example.com"


@pytest.mark.parametrize(
    "body",
    [
        {"email": "ada", "password": PASSWORD},
        {"email": "ada@example.com", "password": "short"},
        {"email": "ada@example.com", "password": "x" * 129},
        {"email": f"{'a' * 250}@example.com", "password": PASSWORD},
        {"email": "ada@example.com", "password": PASSWORD, "role": "admin"},
    ],
)
def test_a_registration_out_of_bounds_is_refused(body: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        Registration.model_validate(body)


def test_a_password_does_not_show_in_logs() -> None:
    assert PASSWORD not in repr(Registration(email="ada@example.com", password=PASSWORD))


@pytest.mark.parametrize("days", [0, -1, 3651])
def test_a_key_lives_one_day_to_ten_years(days: int) -> None:
    with pytest.raises(ValidationError):
        KeyCreate(name="nightly", expires_in_days=days)
