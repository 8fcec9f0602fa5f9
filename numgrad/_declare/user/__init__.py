"""Operators of users: kernels and derivatives that are declared with ``@ng.operator``."""
