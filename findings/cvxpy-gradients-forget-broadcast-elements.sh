#!/usr/bin/env bash
# CVXPY's gradient in a number that is compared with a vector counts the first element of the vector only.
#
# One would expect: the gradient of maximum(x, s), kl_div(x, s) and rel_entr(x, s), with a vector x and a number s, has
# in s what each element contributes, as that of x + s has. With s written out as a vector, s * ones, it has.
# What happens: the matrix of derivatives in s is one row with the first entry right and zeros elsewhere. A row that is
# broadcast over the rows of a matrix has wrong columns in the same way: entry k of it goes to element k of the result.
# Values are right. Sums of them have the gradient of their first term.
#
# Seen with CVXPY 1.9.3.
#
# Why it matters: a common threshold or rate beside a vector is an ordinary model. Methods that linearise, as those for
# differences of convex functions, take a tangent that is none; nothing is raised.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 scipy==1.17.1 cvxpy==1.9.3

cat > "$folder/seen.py" <<'EOF'
import cvxpy as cp
import numpy as np

x, s, step = cp.Variable(3, pos=True), cp.Variable(pos=True), 1e-6
x.value, s.value = np.array([1.0, 2.0, 4.0]), 2.5


def in_s(expression):
    """The derivatives in s that grad has, and those of central differences."""
    found = np.ravel(expression.grad[s].toarray() if hasattr(expression.grad[s], "toarray") else expression.grad[s])
    values = []
    for move in (step, -step):
        s.value = 2.5 + move
        values.append(np.ravel(expression.value))
    s.value = 2.5
    return found, (values[0] - values[1]) / (2 * step)


wrong = []
for name, function in (("maximum", cp.maximum), ("kl_div", cp.kl_div), ("rel_entr", cp.rel_entr)):
    for kind, other in (("s", s), ("s * ones", s * np.ones(3))):
        for what, expression in ((f"{name}(x, {kind})", function(x, other)),
                                 (f"sum({name}(x, {kind}))", cp.sum(function(x, other)))):
            found, right = in_s(expression)
            print(what, "has in s", found.round(6).tolist(), "right", right.round(6).tolist())
            if not np.allclose(found, right, atol=1e-6):
                wrong.append(what)
row, matrix = cp.Variable((1, 2), pos=True), cp.Variable((2, 2), pos=True)
row.value, matrix.value = np.array([[2.0, 2.0]]), np.array([[1.0, 3.0], [1.0, 3.0]])
rows = cp.maximum(row, matrix).grad[row].toarray().tolist()
print("maximum of a row of twos and rows of 1, 3 has in the row", rows, "right", [[1, 1, 0, 0], [0, 0, 0, 0]])
if wrong != [what for f in ("maximum", "kl_div", "rel_entr") for what in (f"{f}(x, s)", f"sum({f}(x, s))")]:
    raise SystemExit("gradients of broadcast numbers are others now")
if rows == [[1, 1, 0, 0], [0, 0, 0, 0]]:
    raise SystemExit("gradients of broadcast rows are others now")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
