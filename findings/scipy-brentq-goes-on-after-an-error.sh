#!/usr/bin/env bash
# SciPy's brentq goes on when the value of its function cannot be a number, and raises another error in the end.
#
# One would expect: where a function returns an object whose conversion to a float raises, that error comes out.
# What happens: brentq's C code does not look at whether the conversion failed, and calls the function again while the error is
# pending. What comes out is a SystemError, "... returned a result with an exception set", from whatever Python runs then.
#
# Seen with SciPy 1.17.1 and Python 3.11.
#
# Why it matters: numbers with units, symbolic ones and those that record derivatives refuse a conversion with a sentence that
# says what to do. Who catches that error does not get it.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1

cat > "$folder/seen.py" <<'EOF'
from collections import Counter

from scipy.optimize import brentq


class Refused(Exception):
    pass


class Metres:
    def __init__(self, value):
        self.value = value

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return False  # brentq asks whether the value is NaN

    def __float__(self):
        raise Refused("divide by a unit first")


def outcome():
    try:
        brentq(Metres, -1.0, 2.0)
    except BaseException as error:
        return type(error).__name__
    return "none"


seen = Counter(outcome() for _ in range(100))
print("errors of 100 calls:", dict(seen))
if seen["Refused"]:
    raise SystemExit("brentq raises the first error")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
