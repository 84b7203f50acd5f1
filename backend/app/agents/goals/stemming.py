"""Stemming and synonyms for the words of goals and of column names."""

from functools import lru_cache

from snowballstemmer import stemmer

from app.agents.goals.tokenizer import cache_texts, words

_ENGLISH = stemmer("english")
_AGENT_ENDINGS = ("or", "er")
_MIN_AGENT = 7
"""Letters of a stem that loses the ending of an agent: `sensor` and `number` are none."""

MEANINGS: tuple[frozenset[str], ...] = tuple(
    frozenset(group.split())
    for group in (
        "surviv survive die died death dead alive mortality live lived perish",
        "churn churned leave left cancel quit attrition exited exit unsubscribe retention",
        "price cost worth amount expensive much sell sale sold",
        "price close",
        "salary wage income earn pay compensation",
        "default repay delinquent bankrupt",
        "fraud fraudulent scam",
        "disease diagnosis sick ill illness malignant tumor cancer target",
        "buy purchase bought convert conversion order",
        "demand sales units volume quantity",
        "mpg fuel mileage economy consumption",
        "species kind type category variety",
        "rating score grade quality",
        "weight heavy mass",
        "height tall",
        "age old",
        "duration long minutes",
        "distance far",
        "temperature temp hot warm cold degrees",
        "delay late delayed",
        "rent rented rental rentals count",
        "sex gender male female",
        "spam junk",
        "progression outcome result",
        "click clicked ctr",
        "approve approved approval accept accepted",
        "fare ticket",
        "population inhabitants people",
        "profit loss lose losing unprofitable profitable margin",
        "hp horsepower power",
        "yr year",
        "cyl cylinder cylinders",
        "bp pressure",
        "qty quantity",
        "amt amount",
        "temp tmax tmin tavg temperature",
        "tmax max maximum highest hottest",
        "tmin min minimum lowest coldest",
        "avg average mean",
        "price preis prix precio prezzo preco",
        "cost kosten cout coste costo",
        "sales umsatz absatz ventes ventas vendite verkauf",
        "rent miete loyer alquiler",
        "salary gehalt lohn salaire sueldo salario einkommen income",
        "age alter edad eta",
        "sex geschlecht sexe sexo",
        "weight gewicht poids peso",
        "height grosse taille altura",
        "size grosse",
        "churn kundigung abwanderung attrition",
        "survived uberlebt uberlebten survecu sobrevivio",
        "customer kunde kunden client cliente",
        "quantity menge anzahl quantite cantidad",
        "date datum fecha data",
        "year jahr annee ano anno",
        "consumption verbrauch consommation consumo",
        "temperature temperatur temperatura",
        "demand nachfrage demande demanda",
        "duration dauer duree duracion",
        "area flache wohnflache surface superficie",
        "default ausfall zahlungsausfall impago",
    )
)
"""Synonyms between words of a goal and names of columns."""


MAX_CACHED_WORD_CHARACTERS = 64
"""Longest word whose stem is cached, so that user input cannot fill the memory."""


def stem(word: str) -> str:
    """Return the English stem of a word: survive, survived, survival and survivors share one."""
    return _stem(word) if len(word) <= MAX_CACHED_WORD_CHARACTERS else _stem.__wrapped__(word)


@lru_cache(maxsize=10_000)
def _stem(word: str) -> str:
    english: str = _ENGLISH.stemWord(word)
    # Snowball keeps the endings of agents: survivors survived.
    if english.endswith(_AGENT_ENDINGS) and len(english) >= _MIN_AGENT:
        return english[:-2]
    return english


def stems(text: str) -> list[str]:
    """Return the stems of a text's words."""
    return list(_stems(text))


@cache_texts
def _stems(text: str) -> tuple[str, ...]:
    return tuple(map(stem, words(text)))


_MEANINGS_BY_STEM: dict[str, set[int]] = {}
for _index, _group in enumerate(MEANINGS):
    for _word in _group:
        _MEANINGS_BY_STEM.setdefault(stem(_word), set()).add(_index)


def synonym_groups(word: str) -> set[int]:
    """Return the indices in MEANINGS of the groups that contain a stem."""
    return _MEANINGS_BY_STEM.get(word, set())


def have_same_meaning(first: str, second: str) -> bool:
    """Tell if two stems are synonyms."""
    return not synonym_groups(first).isdisjoint(synonym_groups(second))
