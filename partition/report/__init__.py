"""Text, CSV and pictures for people: the only place that formats."""
