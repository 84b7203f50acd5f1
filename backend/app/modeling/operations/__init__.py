"""The operations a recipe is made of, by what they work on."""
