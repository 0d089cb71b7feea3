"""Which shared environments could exist."""
