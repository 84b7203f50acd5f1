"""The lexicon: what people ask for, and the names under which tables store it.

`sources` holds it as text, `index.txt` by stems (made by `scripts/index_lexicon.py`), and `concept_matches`
looks words up.
"""
