"""System packages: whether names exist in a release, whether they install together, and how large they are.

apt itself answers, in a private root: nothing of the host's package state is read or written.
"""
