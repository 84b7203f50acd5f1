"""Topics that several columns are about: rain, wind and temperature are the weather."""

from collections.abc import Iterable, Sequence

from app.agents.goals.tables.profiles import Column
from app.agents.goals.words.name_parts import parts_of_name
from app.agents.goals.words.stemming import stem, stems
from app.agents.goals.words.vocabulary import word_set

_TOPICS = """
weather climate meteorology: weather temp temperature tmax tmin tavg rain rainfall prcp precip precipitation
    snow snowfall wind gust humidity humid sun sunshine cloud cloudiness dew fog frost hail visibility
demographics demography demographic: age sex gender income education educ marital married ethnicity race
    occupation job household children kids nationality citizenship
location geography geographic: lat latitude lon lng longitude city town region district country county
    postcode zip zipcode suburb neighbourhood neighborhood borough
size sizes dimensions measurements: length width height depth thickness diameter girth size weight mass
    volume area
calendar: date day weekday month quarter year hour week season holiday weekend
"""
"""Lines: words for a topic, and parts of the names of its columns."""
_KINDS = word_set(
    "condition conditions factor factors variable variables feature features information info figures"
)
"""Words behind a topic that add nothing: "weather conditions"."""


def _read_topics(text: str) -> dict[str, frozenset[str]]:
    topics: dict[str, frozenset[str]] = {}
    for line in text.strip().replace("\n    ", " ").splitlines():
        names, parts = line.split(":")
        topics |= {stem(name): frozenset(stems(parts)) for name in names.split()}
    return topics


_PARTS_OF_TOPICS = _read_topics(_TOPICS)
_KIND_STEMS = frozenset(map(stem, _KINDS))


def find_topic_columns(content: Iterable[str], columns: Sequence[Column]) -> list[str]:
    """Return the names of the columns of the topic that `content`, the stems of a phrase, name."""
    topic = {*content} - _KIND_STEMS
    parts = _PARTS_OF_TOPICS.get(next(iter(topic))) if len(topic) == 1 else None
    if not parts:
        return []
    return [column.name for column in columns if parts & {*parts_of_name(column.name)}]
