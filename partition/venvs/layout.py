"""Where an image keeps its virtual environments and the interpreters that they need."""

from __future__ import annotations

VENVS = "/opt/venvs"
"""Folder of an image with one folder for each of its virtual environments."""

INTERPRETERS = "/opt/pythons"
"""Folder of an image with the interpreters that uv installs for them."""

LOCKS = "/opt/envfold/venvs"
"""Folder of an image with the lock files; set-up removes it."""
