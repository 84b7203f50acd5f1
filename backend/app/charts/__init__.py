"""Charts: Vega-Lite specifications whose rows are a query plan, and the process that draws them."""
