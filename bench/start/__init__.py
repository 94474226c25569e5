"""The cost of starting the program, from an installed wheel, against a bare interpreter."""
