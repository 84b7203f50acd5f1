"""Goals that are refused: other languages, what is beyond the service, and procedures that are spelled out."""
