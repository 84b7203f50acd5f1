"""Words of names of outcomes, which people predict."""

from app.agents.goals.words.stemming import stem
from app.agents.goals.words.vocabulary import word_set

OUTCOMES = frozenset(
    map(
        stem,
        word_set(
            """
            outcome result target label class status state response score rating grade rank price cost
            amount total revenue sales profit charge fee fare rent delay duration churn churned default
            defaulted fraud yield success survived cancelled converted purchased approved accepted returned
            lapsed failed failure passed dropout attrition satisfaction quality severity risk winner won demand
            consumption output usage income salary spend readmitted
            died diagnosis disease damaged late resolved renewed clicked
            """
        ),
    )
)
"""Stems of names that columns have which people predict: what comes of a row, or what it is worth."""
