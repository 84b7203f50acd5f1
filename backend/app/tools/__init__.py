"""What agents may call: plain typed functions, each validated, recorded and computed in a cell."""
