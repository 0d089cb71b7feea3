"""Task -> feature vector -> task class."""
