"""Base images: distribution, release, package manager and interpreter of public images."""
