"""Virtual environments that share an image: specs, locks, sizes, instructions."""
