"""Read a dataset, whatever holds it, into tasks."""
