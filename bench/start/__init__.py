"""What a start of the program costs, from an installed wheel, against a bare interpreter."""
