"""The fit of the decoder of requests: its examples, its parameters and their fit."""
