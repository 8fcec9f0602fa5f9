#!/usr/bin/env bash
# autograd's gradient of the maximum norm of a vector is NaN, at any point.
#
# One would expect: np.linalg.norm(x, np.inf) is the largest absolute value; its gradient is a sign there and 0
# elsewhere, as that of np.max(np.abs(x)) is. Orders that have no rule, as 1, raise NotImplementedError.
# What happens: the order infinity goes through the rule for any order p, with powers of x over the norm: infinity times
# 0 is NaN in the elements beyond 1 in size, the largest of them among these. The others are 0.
#
# Seen with autograd 1.9.1 and NumPy 2.4.6.
#
# Why it matters: largest errors and clipped gradients are maximum norms. The value is right, no error is raised as for
# order 1, and all parameters are NaN after one step.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 autograd==1.9.1

cat > "$folder/seen.py" <<'EOF'
import autograd.numpy as np
from autograd import grad

x = np.array([0.5, -3.0, 2.0])
norm = grad(lambda x: np.linalg.norm(x, np.inf))(x)
written = grad(lambda x: np.max(np.abs(x)))(x)
print("value:", np.linalg.norm(x, np.inf))
print("gradient of the norm:", norm.tolist())
print("gradient of max(abs(x)):", written.tolist())
try:
    grad(lambda x: np.linalg.norm(x, 1))(x)
except NotImplementedError as error:
    print("order 1:", error)
else:
    raise SystemExit("order 1 has a gradient now")
if np.isnan(norm).tolist() != [False, True, True] or written.tolist() != [0.0, -1.0, 0.0]:
    raise SystemExit("the gradient is another one now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
