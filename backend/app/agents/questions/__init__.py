"""Parsing of questions about tables into query plans.

`parser` leads through it: the words are brought to known forms (`rewording`) and become items (`items`), each
marked with what it may mean (`marking`, by `matching`) in the tables of the question (`tables`). A reading is
then composed (`composition`), or made by a form of questions with words of its own (`frames`). A fitted decoder
(`learned`) reads the question too, as a program (`programs`), and `agreement` settles what comes of both.
"""
