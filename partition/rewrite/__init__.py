"""From a plan and a dataset to a dataset whose tasks share the plan's environments."""
