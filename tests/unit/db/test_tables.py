from collections import Counter

from app.db.tables import Base


def test_every_index_is_declared_once() -> None:
    names = Counter(index.name for table in Base.metadata.tables.values() for index in table.indexes)
    assert [name for name, count in names.items() if count > 1] == []
