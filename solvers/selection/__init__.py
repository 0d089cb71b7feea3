"""Which of given environments to build: one integer problem, several methods, one checked answer."""
