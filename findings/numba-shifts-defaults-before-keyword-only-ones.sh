#!/usr/bin/env bash
# Numba gives positional parameters the defaults of their neighbours if a function has parameters after `*`.
#
# One would expect: f(x, a=1, b=2, *, c=3) called as f(0, 10) has a = 10, b = 2 and c = 3, as in Python; or an error, as
# for other signatures that Numba does not know.
# What happens: compiled, b is 1 and c is 2. The defaults before the star are counted from the end of all parameters, those
# after the star included, so each default stands one place further on, and the one of c is lost.
#
# Seen with Numba 0.68.1 on Python 3.11.
#
# Why it matters: tolerances and step counts are what functions have as keyword-only parameters, and a compiled function
# that returns without an error is believed. A call that gives every argument by its name is right.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numba==0.68.1 numpy==2.4.6

cat > "$folder/seen.py" <<'EOF'
from numba import njit


def f(x, a=1.0, b=2.0, *, c=3.0):
    return x, a, b, c


compiled = njit(f)
print("Python:", f(0.0, 10.0))
print("Numba: ", compiled(0.0, 10.0))
print("by name:", compiled(x=0.0, a=10.0, b=2.0, c=3.0))
if compiled(0.0, 10.0) != (0.0, 10.0, 1.0, 2.0):
    raise SystemExit("the defaults are others now")
if compiled(x=0.0, a=10.0, b=2.0, c=3.0) != f(0.0, 10.0):
    raise SystemExit("a call by name is another one now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
