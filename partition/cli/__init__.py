"""One thin file a command, and the one place that turns errors into messages."""
