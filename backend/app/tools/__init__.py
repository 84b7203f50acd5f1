"""Tools of the agents: plain typed functions, each validated, recorded and computed in a cell."""
