"""The report's document: typed blocks in a fixed order, and the documents made of sections."""
