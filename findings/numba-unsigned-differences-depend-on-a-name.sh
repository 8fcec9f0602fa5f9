#!/usr/bin/env bash
# Under Numba the difference of two arrays of uint8 is another one in a longer expression than with a name of its own.
#
# One would expect: `x * (a - b)` is `d = a - b` followed by `x * d`, as in NumPy, where 3 - 4 of uint8 is 255.
# What happens: Numba makes one loop of an expression of arrays, in which numbers have 64 bits: in `x * (a - b)` the difference
# is 2**64 - 1, so that the product is 1.8e19. With a name, as an argument or as np.subtract(a, b) it is 255. Sums differ
# likewise: (a + b) * x of 200 and 100 is 300 in one expression, and 44 with a name. Nothing is raised.
#
# Seen with Numba 0.68.1 and NumPy 2.4.6.
#
# Why it matters: images and masks are arrays of uint8. Taking a part of an expression out of it, to read it better, changes
# the result, and so does the decorator.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 numba==0.68.1

cat > "$folder/seen.py" <<'EOF'
import numpy as np
from numba import njit


def together(x, a, b):
    return x * (a - b), x * (a + b)


def named(x, a, b):
    difference = a - b
    total = a + b
    return x * difference, x * total


x, a, b = np.ones(2), np.array([3, 200], np.uint8), np.array([4, 100], np.uint8)
of_numpy = [part.tolist() for part in together(x, a, b)]
fused = [part.tolist() for part in njit(together)(x, a, b)]
apart = [part.tolist() for part in njit(named)(x, a, b)]
print("NumPy:", of_numpy)
print("Numba, one expression:", fused)
print("Numba, with names:", apart)
assert of_numpy == [[255.0, 100.0], [7.0, 44.0]]
if apart != of_numpy or fused != [[2.0**64, 100.0], [7.0, 300.0]]:
    raise SystemExit("the differences have other values now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
