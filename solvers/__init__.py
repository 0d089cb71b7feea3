"""Pure optimisation: an instance of numbers in, a checked result with a bound out."""
