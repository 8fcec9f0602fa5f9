#!/usr/bin/env bash
# The inner product of two lengths is an area by np.dot and a length by np.einsum in unyt.
#
# One would expect: the unit of a product is the product of the units, by whichever function it is written, or an error.
# What happens: np.einsum("i,i", x, x) of metres is in metres, and np.dot, np.vdot, np.inner, np.tensordot and x @ x are
# in square metres. Made in centimetres and converted it is off by a factor of 100. The Cholesky factor of a matrix in
# square metres is in square metres, so that its product with its transpose is in m^4; both factors of np.linalg.qr have
# the unit of the matrix; np.cov of metres has no unit at all, while np.var is in square metres. The numbers are right.
#
# Seen with unyt 3.2.0 and NumPy 2.4.6.
#
# Why it matters: units are there to find such errors. The wrong unit passes on: a conversion multiplies by the wrong
# power of a factor, and a sum with a right term is refused or, with the wrong one, accepted.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 unyt==3.2.0

cat > "$folder/seen.py" <<'EOF'
import numpy as np
import unyt

x = unyt.unyt_array([1.0, 2.0, 4.0], "m")
products = {
    "np.dot": np.dot(x, x), "np.vdot": np.vdot(x, x), "np.inner": np.inner(x, x),
    "np.tensordot": np.tensordot(x, x, 1), "x @ x": x @ x, "np.einsum": np.einsum("i,i", x, x),
}
for name, product in products.items():
    print(f"{name}: {product}")
in_centimetres = np.einsum("i,i", x.to("cm"), x.to("cm")).to("m")
print("np.einsum of the same lengths in centimetres, in metres:", in_centimetres)
matrix = unyt.unyt_array([[4.0, 1.0], [1.0, 3.0]], "m**2")
factor = np.linalg.cholesky(matrix)
q, r = np.linalg.qr(matrix)
print("Cholesky factor of a matrix in", matrix.units, "in", factor.units, "- its square in", (factor @ factor.T).units)
print("QR factors in", q.units, "and", r.units, "and their product in", (q @ r).units)
print("np.var:", np.var(x), "np.cov:", repr(np.cov(x)))
areas = [name for name, product in products.items() if product.units == unyt.m**2]
if areas != list(products)[:-1] or products["np.einsum"].units != unyt.m or in_centimetres / products["np.einsum"] < 99:
    raise SystemExit("products have other units now")
if factor.units != matrix.units or (q @ r).units != matrix.units**2 or hasattr(np.cov(x), "units"):
    raise SystemExit("factors have other units now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
