#!/usr/bin/env bash
# pandas leaves `frame * x` to an operand that asks for it, and `frame @ x` not.
#
# One would expect: an operand with a `__pandas_priority__` above the frame's answers all operators of Python: that is what the
# attribute is for.
# What happens: `*`, `+` and the like return NotImplemented, and the operand's reflected method answers. `@` calls `dot`, which
# converts the operand with np.asarray at once; its `__rmatmul__` is never called.
#
# Seen with pandas 3.1.1, NumPy 2.4.6.
#
# Why it matters: a container that must not become an array silently (lazy, on another device, with a graph) can take part in all
# operators with a frame but this one; all that it can do is to refuse in `__array__`.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 pandas==3.1.1

cat > "$folder/seen.py" <<'EOF'
import numpy as np
import pandas as pd


class Other:
    __pandas_priority__ = 5000
    __array_ufunc__ = None
    shape, ndim = (2,), 1

    def __len__(self):
        return 2

    def __array__(self, dtype=None, copy=None):
        return np.ones(2)

    def __rmul__(self, other):
        return "asked"

    __rmatmul__ = __radd__ = __rmul__


frame, x = pd.DataFrame(np.ones((2, 2))), Other()
seen = {"+": frame + x, "*": frame * x, "@": frame @ x}
for operator, found in seen.items():
    print(operator, "asked the other" if isinstance(found, str) else "made an array of the other")
if [isinstance(found, str) for found in seen.values()] != [True, True, False]:
    raise SystemExit("all operators ask alike")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
