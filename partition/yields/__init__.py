"""P(oracle passes | task class, environment), with what it rests on."""
