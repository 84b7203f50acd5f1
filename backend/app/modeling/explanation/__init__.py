"""Why a model says what it says, and where it errs: measured on rows that did not teach it."""
