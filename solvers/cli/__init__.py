"""The command line of the solvers alone: ``python -m solvers``."""
