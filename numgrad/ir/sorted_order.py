"""The order in which elements are sorted, for the kernels of all targets: NaN comes last."""


def before(a, b):
    """Whether ``a`` must stand before ``b``."""
    return a < b or (b != b and a == a)


def complex_before(a, b):
    """Whether ``a`` must stand before ``b``: by real parts, then imaginary ones, NaN at the end."""
    if (a.real != a.real) != (b.real != b.real):
        return a.real == a.real
    if (a.imag != a.imag) != (b.imag != b.imag):
        return a.imag == a.imag
    if a.real < b.real or a.real > b.real:
        return a.real < b.real
    return a.imag < b.imag
