"""How long what is over is kept, and how what somebody deletes goes, whole."""
