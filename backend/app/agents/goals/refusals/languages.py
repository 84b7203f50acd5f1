"""The language of a goal, told by its stop words: other languages than English are refused in their own."""

import re

from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set

_STOP_WORDS = {
    "English": word_set(
        """
        a as i do no me so am die the of and to in is that for it was with on are by this be from at or an
        which have not you we our will what who how when where why does can should would much many their
        its if than there my us whether per
        """
    ),
    "German": word_set(
        """
        der die das den dem des ein eine einen einem einer und ist sind war wird werden wurde nicht mit von
        zu im in auf fur bei aus nach uber wie viele wer was wann wo warum welche welcher welches wir uns
        unser unsere ich mir sie es ob dass kann konnen soll bitte mich alle kein keine als am zum zur
        sage voraus vorhersagen vorhersage prognostiziere schatze berechne zeige
        """
    ),
    "French": word_set(
        """
        le la les un une des du de et est sont etait sera seront ne pas avec par pour dans sur au aux que
        qui quel quelle quels quelles combien comment pourquoi quand nous notre nos je mon ma mes vous il
        elle ils ce cette ces si ou en y a d l plus
        predire predis prevoir prevois estime calcule montre
        """
    ),
    "Spanish": word_set(
        """
        el la los las un una unos unas de del y es son fue sera seran no con por para en sobre al que quien
        cual cuales cuanto cuantos cuanta cuantas como cuando donde nosotros nuestro nuestra yo mi mis se su
        sus lo le si o mas esta este dieron
        predice predecir predigan pronostica pronosticar calcula muestra
        """
    ),
    "Portuguese": word_set(
        """
        o a os as um uma uns umas de do da dos das e foi sera serao nao com por para em no na nos nas ao que
        quem qual quais quanto quantos quanta quantas como quando onde nosso nossa eu meu minha se seu sua
        ou mais este esta vai vao
        preveja prever calcule mostre
        """
    ),
    "Italian": word_set(
        """
        il lo la i gli le un uno una di del della dei delle e sono era sara saranno non con per in su nel
        nella al alla che chi quale quali quanto quanti quanta quante come quando dove perche noi nostro
        nostra io mio mia si se suo sua o piu questo questa
        prevedi prevedere predici calcola mostra
        """
    ),
}
"""Words that are frequent in any text of a language, without accents; some belong to several.

Of languages other than English also those that ask for a prediction or a figure, which a short goal has.
"""

_REFUSALS = {
    "German": "Dieses Ziel wurde nicht verstanden. Bitte auf Englisch formulieren, Spalten mit ihren Namen.",
    "French": "Cet objectif n'a pas été compris. Formulez-le en anglais, avec les noms des colonnes.",
    "Spanish": "No se ha entendido este objetivo. Escríbalo en inglés, con los nombres de las columnas.",
    "Portuguese": "Este objetivo não foi entendido. Escreva-o em inglês, com os nomes das colunas.",
    "Italian": "Questo obiettivo non è stato capito. Scrivilo in inglese, con i nomi delle colonne.",
}
"""Sentences that what was said was not understood, in the language in which it was said."""

MIN_STOP_WORDS = 2
"""Stop words that tell another language: one alone may be the name of a column, or a word of both languages."""


_ABBREVIATION = re.compile(r"\b(?:i\.e|e\.g)\b", re.IGNORECASE)
"""English abbreviations, whose letters are words of Italian and Portuguese."""


def foreign_language(text: str) -> str | None:
    """Return the language of a text if its stop words are rather those of another language than English."""
    parts = words(_ABBREVIATION.sub(" ", text))
    counts = {name: sum(word in stop_words for word in parts) for name, stop_words in _STOP_WORDS.items()}
    # Some stop words belong to several languages (`die`, `a`, `me`), so equal counts are for English.
    best = max(counts, key=lambda name: (counts[name], name == "English"))
    return best if best != "English" and counts[best] >= MIN_STOP_WORDS else None


def describe_language_refusal(text: str) -> str | None:
    """Say in its own language that a text was not understood; None for a text in English."""
    language = foreign_language(text)
    return f"{_REFUSALS[language]} (It is not in English.)" if language else None
