#!/usr/bin/env bash
# In PaddlePaddle the gradient of prod is NaN where a factor is 0; that of cumprod, whose last element is the same, is right.
#
# One would expect: the derivative of a product in one factor is the product of the others: of 2 * 0 * 3 it is 0, 6, 0.
# What happens: it is the product divided by the factor: 0, NaN, 0. The other elements are right. With two zeros, where
# all derivatives are 0, both have NaN. It is the same along an axis. cumprod(x)[-1] and x[0] * x[1] * x[2] have the
# right gradient.
#
# Seen with PaddlePaddle 3.3.1 on the CPU.
#
# Why it matters: products of masks, of probabilities and of transmittances along a ray have zeros all the time. The
# value is right, one NaN in the gradient is enough to spoil all parameters, and which element has it is decided by data.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 paddlepaddle==3.3.1

cat > "$folder/seen.py" <<'EOF'
import numpy as np
import paddle


def gradient(function, x):
    operand = paddle.to_tensor(x, stop_gradient=False)
    function(operand).sum().backward()
    return operand.grad.numpy()


functions = {
    "prod(x)": lambda x: paddle.prod(x),
    "prod(x, axis=0)": lambda x: paddle.prod(x, axis=0),
    "cumprod(x)[-1]": lambda x: paddle.cumprod(x, dim=0)[-1],
    "x[0] * x[1] * x[2]": lambda x: x[0] * x[1] * x[2],
}
with_nan = set()
for x in ([2.0, 0.0, 3.0], [0.0, 0.0, 3.0], [2.0, 5.0, 3.0]):
    right = np.array([x[1] * x[2], x[0] * x[2], x[0] * x[1]])
    for name, function in functions.items():
        found = gradient(function, np.array(x))
        print(f"{name} of {x}: {found.tolist()}, right {right.tolist()}")
        finite = np.isfinite(found)
        if not np.allclose(found[finite], right[finite]):
            raise SystemExit("other elements are wrong now")
        if not np.array_equal(finite, np.array(x) != 0) and not finite.all():
            raise SystemExit("other elements are NaN now")
        if not finite.all():
            with_nan.add(name)
if with_nan != {"prod(x)", "prod(x, axis=0)"}:
    raise SystemExit("other functions have NaN now")
EOF
cd "$folder" && "$folder/venv/bin/python" -W ignore seen.py
