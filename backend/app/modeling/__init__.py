"""The science: frames in, results out; imports no framework and does no I/O."""
