"""Questions and answers in an SQLite file that every process of the home sees."""
