"""What an environment is: its snapshot key, its Dockerfile, the facts in it, and shared ones rendered."""
