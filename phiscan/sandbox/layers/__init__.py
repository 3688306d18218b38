"""Layers of isolation that the kernel offers: namespaces, Landlock, seccomp, capabilities."""
