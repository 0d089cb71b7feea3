"""What to bake into at most K images, or into as few as will do: one integer problem, several methods."""
