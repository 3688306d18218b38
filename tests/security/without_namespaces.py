"""Loaded by the server that forks workers: a kernel or container that allows no namespaces and mounts."""

from phiscan.sandbox.layers import namespaces

namespaces.enter = lambda: ()
