"""Core functions of reductions of integers and booleans, where no order of the elements rounds."""


def add_integers(x, out):
    """Sum a contiguous axis; what is too large wraps around."""
    total = out.dtype.type(0)
    for value in x:
        total += value
    out[0] = total


def largest_integer(x, out):
    """The largest element."""
    found = x[0]
    for value in x:
        found = value if value > found else found
    out[0] = found


def smallest_integer(x, out):
    """The smallest element."""
    found = x[0]
    for value in x:
        found = value if value < found else found
    out[0] = found


def add_integer_rows(x, out):
    """Sum the rows of a matrix."""
    for n in range(out.size):
        out[n] = 0
        for row in range(x.shape[0]):
            out[n] += x[row, n]


def largest_integers(x, out):
    """The largest elements among the rows of a matrix."""
    for n in range(out.size):
        out[n] = x[0, n]
        for row in range(x.shape[0]):
            out[n] = x[row, n] if x[row, n] > out[n] else out[n]


def smallest_integers(x, out):
    """The smallest elements among the rows of a matrix."""
    for n in range(out.size):
        out[n] = x[0, n]
        for row in range(x.shape[0]):
            out[n] = x[row, n] if x[row, n] < out[n] else out[n]


WHOLE = {"sum": add_integers, "max": largest_integer, "min": smallest_integer}
COLUMNS = {"sum": add_integer_rows, "max": largest_integers, "min": smallest_integers}
