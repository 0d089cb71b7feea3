"""Where a rewritten dataset goes: a directory, a parquet file, or a new repository on the Hub."""
