"""Rewording of questions to the forms that the grammar reads, before they are taken apart."""
