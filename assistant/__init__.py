"""Joins the corpus search to a terminal: one headless core (`session`, `answer`), shown by `render` and `cli`."""
