from uuid import uuid4

from app.auth.ttl_cache import TtlCache


def test_an_answer_from_before_a_revocation_is_not_remembered() -> None:
    cache: TtlCache[bool] = TtlCache(lambda: 0.0)
    user = uuid4()
    generation = cache.generation
    cache.invalidate_user(user)
    assert cache.store("key", user, True, 10.0, generation) is True
    assert cache.get("key") is None
    cache.store("key", user, True, 10.0, cache.generation)
    assert cache.get("key") is True
