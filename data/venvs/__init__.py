"""Facts about Python packages and what they are installed on; README.md says where each is from."""
