"""Goals in plain words: tokens, patterns, columns and values, read without a chat model.

`parser` reads a goal from its words alone (`phrases`), `aims` weighs what kind of request it is, and `refusals`
tells what is not served. With the tables, `target` ranks the columns that may be meant, `filters` the rows, and
`series` finds forecasts of series. The other modules are the language below: tokens, stems, concepts, units.
"""
