"""SWE-Gym as a spec table."""
