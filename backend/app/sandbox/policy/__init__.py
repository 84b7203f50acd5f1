"""Language policy: the Python that an agent may write. The boundary is the isolation of the cell, not this."""
