"""How several uploaded tables hang together: their keys, and the SELECT that makes one table of them."""
