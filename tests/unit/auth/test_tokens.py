from datetime import UTC, datetime, timedelta
from uuid import uuid4

import jwt
import pytest

from app.auth.config import AuthConfig
from app.auth.tokens import Claims, Purpose, TokenSigner, key_id
from app.errors import Unauthorized

SECRET = "s" * 32


def claims(signer: TokenSigner, purpose: Purpose) -> Claims:
    return Claims(uuid4(), uuid4(), uuid4(), signer.expires_at(purpose))


@pytest.mark.parametrize("purpose", ["access", "refresh"])
def test_what_was_signed_reads_back(purpose: Purpose) -> None:
    signer = TokenSigner([SECRET], AuthConfig())
    signed = claims(signer, purpose)
    read = signer.verify(purpose, signer.sign(purpose, signed))
    assert (read.id, read.user_id, read.family) == (signed.id, signed.user_id, signed.family)
    assert abs(read.expires_at - signed.expires_at) < timedelta(seconds=1)


def test_a_refresh_token_is_no_access_token() -> None:
    signer = TokenSigner([SECRET], AuthConfig())
    with pytest.raises(Unauthorized, match="not a valid access token"):
        signer.verify("access", signer.sign("refresh", claims(signer, "refresh")))


def test_an_expired_token_says_so() -> None:
    yesterday = TokenSigner([SECRET], AuthConfig(), now=lambda: datetime.now(UTC) - timedelta(days=1))
    token = yesterday.sign("access", claims(yesterday, "access"))
    with pytest.raises(Unauthorized) as refused:
        TokenSigner([SECRET], AuthConfig()).verify("access", token)
    assert refused.value.code == "token_expired"


def test_another_secret_signs_nothing_of_ours() -> None:
    other = TokenSigner(["o" * 32], AuthConfig())
    with pytest.raises(Unauthorized):
        TokenSigner([SECRET], AuthConfig()).verify("access", other.sign("access", claims(other, "access")))


@pytest.mark.parametrize("algorithm", ["none", "HS512"])
def test_only_our_algorithm_is_read(algorithm: str) -> None:
    signer = TokenSigner([SECRET], AuthConfig())
    signed = claims(signer, "access")
    payload = {"sub": str(signed.user_id), "exp": signed.expires_at, "jti": "x", "iss": "labcrew"}
    forged = jwt.encode(payload, None if algorithm == "none" else SECRET * 2, algorithm)
    with pytest.raises(Unauthorized):
        signer.verify("access", forged)


@pytest.mark.parametrize("token", ["", "a.b.c", "é", "x" * 5000])
def test_junk_is_refused(token: str) -> None:
    with pytest.raises(Unauthorized):
        TokenSigner([SECRET], AuthConfig()).verify("access", token)


def test_a_token_outlives_the_secret_that_signed_it_as_long_as_that_verifies() -> None:
    old, new = "o" * 32, "n" * 32
    before = TokenSigner([old], AuthConfig())
    token = before.sign("access", claims(before, "access"))
    assert TokenSigner([new, old], AuthConfig()).verify("access", token)
    with pytest.raises(Unauthorized):
        TokenSigner([new], AuthConfig()).verify("access", token)


def test_processes_that_know_the_next_secret_read_its_tokens_before_they_sign_with_it() -> None:
    old, new = "o" * 32, "n" * 32
    after = TokenSigner([new, old], AuthConfig())
    token = after.sign("refresh", claims(after, "refresh"))
    assert TokenSigner([old, new], AuthConfig()).verify("refresh", token)


def test_a_key_id_does_not_choose_another_purposes_key() -> None:
    signer = TokenSigner([SECRET], AuthConfig())
    payload = {"sub": str(uuid4()), "exp": signer.expires_at("access"), "jti": str(uuid4()), "iss": "labcrew"}
    for headers in ({"kid": key_id(SECRET)}, {"kid": "unknown"}, {"kid": ""}, {}):
        forged = jwt.encode(payload, "f" * 32, "HS256", headers=headers)
        with pytest.raises(Unauthorized):
            signer.verify("access", forged)


def test_a_key_id_says_nothing_of_its_secret() -> None:
    assert key_id(SECRET) not in SECRET
    assert key_id(SECRET) != key_id("o" * 32)
