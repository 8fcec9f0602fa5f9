#!/usr/bin/env bash
# A function under Numba's @njit computes what its first caller was compiled for, for everybody, ever after.
#
# One would expect: fastmath=True and error_model="numpy" are options of the function that has them. A plain @njit
# function that others call keeps its own rules: exact order of operations, ZeroDivisionError.
# What happens: whichever caller comes first has the callee compiled with the caller's options, and this version is kept
# under the argument types, also for direct calls from Python. So the result of a function depends on who used it before.
# Here an error-free sum ("two-sum") returns the lost part 1e-20 or 0, and 1 / 0 raises or is infinite.
#
# Seen with Numba 0.68.1 and NumPy 2.4.6.
#
# Why it matters: compensated sums and interval arithmetic are broken by a caller in another module that says
# fastmath=True, and only if it runs first; tests that call the function directly see nothing.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 numba==0.68.1

cat > "$folder/seen.py" <<'EOF'
from numba import njit


def lost_part(fast_first):
    @njit
    def two_sum(a, b):
        s = a + b
        t = s - a
        return (a - (s - t)) + (b - t)

    @njit(fastmath=True)
    def fast(a, b):
        return two_sum(a, b)

    if fast_first:
        fast(1.0, 2.0)
    return two_sum(1.0, 1e-20)


def inverse_of_zero(other_first):
    @njit
    def inverse(x):
        return 1.0 / x

    @njit(error_model="numpy")
    def other(x):
        return inverse(x)

    if other_first:
        other(2.0)
    try:
        return inverse(0.0)
    except ZeroDivisionError:
        return "ZeroDivisionError"


seen = [lost_part(False), lost_part(True), inverse_of_zero(False), inverse_of_zero(True)]
print("two_sum(1, 1e-20), called first:               ", seen[0])
print("two_sum(1, 1e-20), after a caller with fastmath:", seen[1])
print("inverse(0), called first:                      ", seen[2])
print("inverse(0), after a caller with error_model:   ", seen[3])
if seen != [1e-20, 0.0, "ZeroDivisionError", float("inf")]:
    raise SystemExit("the callee no longer depends on its first caller")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
