"""Read a dataset, whatever holds it, into tasks."""

from partition.tasks.dataset import Dataset, SourceKind, open_dataset, read_all
from partition.tasks.model import Entry, Kind, Spec, Task, TaskConfig, Tree

__all__ = [
    "Dataset",
    "Entry",
    "Kind",
    "SourceKind",
    "Spec",
    "Task",
    "TaskConfig",
    "Tree",
    "open_dataset",
    "read_all",
]
