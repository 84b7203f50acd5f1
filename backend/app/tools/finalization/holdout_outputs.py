"""Name of the rows that a final evaluation keeps."""

OUTPUTS = "holdout_outputs"
"""Name of the artifact with the truth and the model's output of each row of the hold-out."""
