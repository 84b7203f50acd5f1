"""Labels: the prediction target of each row, and the weights of rows that share bars."""
