"""Language policy: the Python that an agent may write. The boundary are the cell's walls, not this policy."""
