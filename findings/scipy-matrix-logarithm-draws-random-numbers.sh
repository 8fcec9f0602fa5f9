#!/usr/bin/env bash
# scipy.linalg.logm and fractional_matrix_power draw from NumPy's global generator, and depend on what they draw.
#
# One would expect: a function of a matrix leaves the random numbers of a program alone, and has one result.
# What happens: the norms of powers of the triangular factor are estimated from random vectors, drawn by np.random.randint.
# After np.random.seed, the next random number is another one if a logarithm of a matrix with five rows or more was
# computed before: scipy.linalg.expm, sqrtm and funm draw nothing. The estimates decide how often square roots are
# taken, so the logarithm itself changes in its last bits with the seed, for some matrices.
#
# Seen with SciPy 1.17.1 and NumPy 2.4.6.
#
# Why it matters: a simulation with a fixed seed has other samples once a logarithm is printed or tested on the way, and
# a gradient made of logm differs between two runs, which looks like a race.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1

cat > "$folder/seen.py" <<'EOF'
import numpy as np
import scipy
from scipy.linalg import expm, fractional_matrix_power, funm, logm, sqrtm

print("SciPy", scipy.__version__)


def matrix(n, seed):
    a = np.random.default_rng(seed).normal(size=(n, n))
    return a @ a.T + np.eye(n)


def draws(function, n=6):
    np.random.seed(1)
    function(matrix(n, 0))
    drawn = np.random.random()
    np.random.seed(1)
    return drawn != np.random.random()


def blocks(a, e):
    return np.block([[a, e], [np.zeros(a.shape), a]])


def results(n, seed):
    """The number of different logarithms of a block matrix, whose corner is a second derivative of the logarithm."""
    rng = np.random.default_rng(seed + 1000)
    whole = blocks(blocks(matrix(n, seed), rng.normal(size=(n, n))), rng.normal(size=(2 * n, 2 * n)))
    found = []
    for start in range(30):
        np.random.seed(start)
        found.append(logm(whole))
    spread = max(np.abs(x - found[0]).max() for x in found)
    return len({x.tobytes() for x in found}), spread


tenth = lambda a: fractional_matrix_power(a, 0.1)
drawing = {name: draws(f) for name, f in {"logm": logm, "fractional_matrix_power": tenth}.items()}
quiet = {f.__name__: draws(f) for f in (expm, sqrtm)} | {"funm": draws(lambda a: funm(a, np.exp))}
print("draw:", drawing, quiet)
counts = [results(3, seed) for seed in range(40)]
several = [(n, float(spread)) for n, spread in counts if n > 1]
print(f"{len(several)} of {len(counts)} matrices have several logarithms:", several[:5])
if not all(drawing.values()) or any(quiet.values()) or not several:
    raise SystemExit("they draw nothing now, or have one result")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
