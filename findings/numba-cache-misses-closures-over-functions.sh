#!/usr/bin/env bash
# A cached function that closes over another compiled function is compiled again in every process.
#
# One would expect: @njit(cache=True) finds in a second process what the first one has compiled, also where the function
# is made by another function and closes over a compiled one; over a number it does.
# What happens: no hit, ever. The closed-over dispatcher is part of the key by its pickle, which differs from process to
# process, so each run compiles, and adds another file to the cache.
#
# Seen with Numba 0.68.1 and NumPy 2.4.6.
#
# Why it matters: factories of integrators and solvers ("make_stepper(rhs)") are the usual way to write generic compiled
# code; their start takes seconds each time, and the directory grows without end.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 numba==0.68.1

cat > "$folder/seen.py" <<'EOF'
import os
import subprocess
import sys
from pathlib import Path

Path("made.py").write_text("""
from numba import njit

@njit(cache=True)
def square(x):
    return x * x

def over_a_function(f):
    @njit(cache=True)
    def call(x):
        return f(x) + 1.0
    return call

def over_a_number(k):
    @njit(cache=True)
    def times(x):
        return k * x
    return times

over_function, over_number = over_a_function(square), over_a_number(3.0)
over_function(2.0), over_number(2.0), square(2.0)
print(*[sum(f.stats.cache_hits.values()) for f in (square, over_number, over_function)])
""")
environment = {**os.environ, "NUMBA_CACHE_DIR": str(Path.cwd() / "cache")}
for run in range(1, 4):
    done = subprocess.run([sys.executable, "made.py"], env=environment, check=True,
                          capture_output=True, text=True)
    hits = [int(n) for n in done.stdout.split()]
    files = len([p for p in Path("cache").rglob("*.nbc") if "over_a_function" in p.name])
    print(f"run {run}: hits of a plain function {hits[0]}, of a closure over a number {hits[1]}, "
          f"over a function {hits[2]} ({files} compiled versions on disk)")
if hits != [1, 1, 0] or files != 3:
    raise SystemExit("closures over functions are found in the cache now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
