"""Readings of a question composed from the meanings of its words, and scored by how much they explain.

`search` extends sketches item by item (`steps`), `completion` makes query plans of them (`plans`), and
`composer` takes the cheapest one that explains every word, if it leads the next clearly.
"""
