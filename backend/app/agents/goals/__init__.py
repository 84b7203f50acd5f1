"""Goals in plain words, read without a chat model.

`parser` reads a `goal` from its words alone (`phrases`, `clauses`), `aims` weighs what kind of request it is,
and `refusals` tells what is not served. With the tables, `columns` ranks the columns that may be meant,
`conditions` finds the rows, and `series` the forecasts of series. Below them lie `periods`, the `lexicon`,
`tables` and `words`.
"""
