"""Questions read by a fitted decoder, which writes a program for each."""
