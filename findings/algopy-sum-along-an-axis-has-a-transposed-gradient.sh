#!/usr/bin/env bash
# The gradient of ALGOPY's sum along an axis is transposed if the matrix is square.
#
# One would expect: the sums of the columns, squared and added up, have the gradient 2 * x.sum(axis=0) in each row; that
# is what ALGOPY itself finds forwards, by Taylor polynomials.
# What happens: backwards, by a CGraph, row i has twice the sum of column i in all its elements. The sum along the last
# axis is right. Of arrays of three axes of equal length, the sums along the first and the second one are wrong; where
# the lengths differ, an error is raised, so that a test with a matrix that is not square shows that something is amiss.
#
# Seen with ALGOPY 0.7.2 and NumPy 2.4.6.
#
# Why it matters: sums over one axis of square matrices are in every program with pairs: distances, transition and
# covariance matrices, networks. The gradient has the right size and the right sum, and points elsewhere.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1 algopy==0.7.2

cat > "$folder/seen.py" <<'EOF'
import algopy
import numpy as np


def squared_sums(x, axis):
    return algopy.sum(algopy.sum(x, axis=axis) ** 2)


def backwards(x, axis):
    graph = algopy.CGraph()
    operand = algopy.Function(x)
    graph.independentFunctionList = [operand]
    graph.dependentFunctionList = [squared_sums(operand, axis)]
    return graph.gradient(x)


def forwards(x, axis):
    polynomial = algopy.UTPM.init_jacobian(x.ravel()).reshape(x.shape)
    return algopy.UTPM.extract_jacobian(squared_sums(polynomial, axis)).reshape(x.shape)


square, is_right = np.array([[1.0, 2.0], [3.0, 4.0]]), {}
for x in (square, np.arange(27.0).reshape(3, 3, 3)):
    for axis in range(x.ndim):
        right = np.broadcast_to(2 * x.sum(axis, keepdims=True), x.shape)
        found = backwards(x, axis)
        is_right[x.ndim, axis] = np.allclose(found, right), np.allclose(found.sum(), right.sum())
        if x is square:
            print(f"axis {axis}: backwards {found.tolist()}, forwards {forwards(x, axis).tolist()}")
            if not np.allclose(forwards(x, axis), right):
                raise SystemExit("it is wrong forwards now")
            if axis == 0 and not np.allclose(found, right.T):
                raise SystemExit("it is not the transpose now")
print("right, and of the right sum, by axes and axis:", is_right)
if [key for key, (right, _) in is_right.items() if right] != [(2, 1), (3, 2)]:
    raise SystemExit("sums have other gradients now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
