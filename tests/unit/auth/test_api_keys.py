from app.auth.api_keys import generate_key, is_key, key_digest


def test_a_key_is_kept_as_a_digest_of_it() -> None:
    key = generate_key()
    assert key_digest(key.text) == key.digest
    assert key.text.startswith(key.prefix)
    assert key.text not in key.digest


def test_keys_differ() -> None:
    assert len({generate_key().text for _ in range(100)}) == 100


def test_a_token_does_not_look_like_a_key() -> None:
    assert is_key(generate_key().text)
    assert not is_key("eyJhbGciOiJIUzI1NiJ9.e30.x")
