"""Functions of an array that write into a copy of it, at places that an integer decides about."""


def written(x, key, value):
    y = x * 1.0
    y[key] = value
    return y


def row_written(x, i):
    y = x * 1.0
    row = y[i]
    row += 5.0
    return y


def written_row(x, i):
    y = x * 1.0
    row = y[i]
    y[i] = 7.0
    return row + y[0]


def added(x, i):
    y = x * 1.0
    y[i] += x[0]
    return y


def scaled(x, i):
    y = x * 1.0
    y[i : i + 3] *= 3.0 + y.sum()
    return y


def lowered(x, i):
    y = x * 1.0
    y[:, i] -= x[:, i + 1]
    return y


def written_view(x, i):
    y = x * 1.0
    view = y[i : i + 2]
    view *= 2.0
    return y


def element_written(x, i):
    y = x[0] * 1.0
    view = y[..., i]
    view *= 2.0
    return y + view


def seen_between(x, i):
    y = x * 1.0
    view = y[i : i + 2]
    view *= 2.0
    total = y.sum()
    y[i : i + 2] = view
    return y * total


def written_later(x, i):
    y = x * 1.0
    view = y[i : i + 2]
    view *= 2.0
    y[i : i + 2] = view
    view += 1.0
    return y


def written_twice(x, key):
    y = x * 1.0
    view = y[key]
    view *= 2.0
    total = y.sum()
    view *= 3.0
    y[key] = view
    return y * total


def written_with_itself(x, key):
    y = x * 1.0
    view = y[key]
    view *= 3.0
    view += y[1:3]
    y[key] = view
    return y


def part_written(x, key):
    y = x * 1.0
    view = y[key]
    view[0] = 7.0
    total = y.sum()
    view[1] = 8.0
    y[key] = view
    return y * total
