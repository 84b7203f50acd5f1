"""What Python an agent may write. A policy, not the boundary: the cell's walls are that."""
