#!/usr/bin/env bash
# solve_continuous_are and solve_discrete_are with a matrix e fail, or return a wrong answer, because they balance.
#
# One would expect: balancing, on by default, makes a solution more accurate, or leaves it as it is.
# What happens: with `e` given, well-posed random problems of three states raise "the associated Hamiltonian pencil has
# eigenvalues too close to the imaginary axis" (or symplectic, the unit circle) in a third of the cases, and some return a
# matrix that does not solve the equation. With balanced=False all of them are solved to rounding. Without `e`, where
# the scaling is another one, balancing does no harm.
#
# Seen with SciPy 1.17.1 and NumPy 2.4.6.
#
# Why it matters: descriptor systems and finite-element models have a mass matrix, which is `e`; a regulator that
# "cannot be designed" may be perfectly designable, and a wrong one comes without a word.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1

cat > "$folder/seen.py" <<'EOF'
import numpy as np
from scipy.linalg import LinAlgError, inv, solve_continuous_are, solve_discrete_are


def continuous(x, a, b, q, r, e):
    k = e.T @ x @ b
    return a.T @ x @ e + e.T @ x @ a - k @ inv(r) @ k.T + q


def discrete(x, a, b, q, r, e):
    k = a.T @ x @ b
    return a.T @ x @ a - e.T @ x @ e - k @ inv(r + b.T @ x @ b) @ k.T + q


def problems():
    draw = np.random.default_rng(5).standard_normal
    for _ in range(300):
        c, d = draw((3, 3)), draw((2, 2))
        q, r = c @ c.T + np.eye(3), d @ d.T + np.eye(2)
        yield draw((3, 3)), draw((3, 2)), q, r, np.eye(3) + 0.2 * draw((3, 3))


counts = {}
for name, solve, residual in (
    ("continuous", solve_continuous_are, continuous), ("discrete", solve_discrete_are, discrete)
):
    for with_e in (True, False):
        for balanced in (True, False):
            failed = wrong = 0
            for a, b, q, r, e in problems():
                e = e if with_e else np.eye(3)
                try:
                    x = solve(a, b, q, r, *([e] if with_e else []), balanced=balanced)
                except LinAlgError:
                    failed += 1
                    continue
                scale = np.abs(q).max() * max(1.0, np.abs(x).max())
                wrong += np.abs(residual(x, a, b, q, r, e)).max() > 1e-4 * scale
            counts[name, with_e, balanced] = failed, wrong
            print(f"{name:10} {'with e' if with_e else 'without e':9} balanced={balanced!s:5} "
                  f"of 300: {failed} raise, {wrong} are wrong")
for (_, with_e, balanced), (failed, wrong) in counts.items():
    if (failed + wrong > 30) != (with_e and balanced) or (failed + wrong > 0 and not balanced):
        raise SystemExit("balancing makes another difference now")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
