#!/usr/bin/env bash
# `a[0] = [x, 2.0]` asks x for its value twice, in two ways, and stores the second answer; `a[:] = x` asks once, in the first way.
#
# One would expect: an object with `__array__` and `__float__` is converted by one of them, the same one in a list and alone.
# What happens: in a list, NumPy calls `__array__` of each object to find shape and dtype, throws the arrays of no axes away, and then
# calls `__float__` for the numbers that it stores. For `a[0] = x` it calls `__float__` alone, for `a[:] = x` `__array__` alone.
#
# Seen with NumPy 2.4.6.
#
# Why it matters: a class whose `__array__` copies from a device, or counts, or whose two answers differ (units, uncertainties), pays twice
# and gives other numbers in a list than alone; what `__array__` returned for an item of a list is never used.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6

cat > "$folder/seen.py" <<'EOF'
import numpy as np


class Measured:
    """One as an array, two as a number."""

    def __init__(self):
        self.asked = []

    def __array__(self, dtype=None, copy=None):
        self.asked.append("__array__")
        return np.array(1.0)

    def __float__(self):
        self.asked.append("__float__")
        return 2.0


def seen(key, wrap):
    x, a = Measured(), np.zeros(2)
    a[key] = wrap(x)
    return x.asked, float(a[0])


found = {
    "a[0] = x": seen(0, lambda x: x),
    "a[:] = x": seen(slice(None), lambda x: x),
    "a[:] = [x, 2.0]": seen(slice(None), lambda x: [x, 2.0]),
}
for text, (asked, stored) in found.items():
    print(f"{text}: calls {' and '.join(asked)}, stores {stored}")
if list(found.values()) != [
    (["__float__"], 2.0),
    (["__array__"], 1.0),
    (["__array__", "__float__"], 2.0),
]:
    raise SystemExit("objects are asked in another way")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
