#!/usr/bin/env bash
# The third derivative of PyTorch's logcumsumexp is NaN at every point, those of logsumexp are right.
#
# One would expect: the last element of logcumsumexp(x) is logsumexp(x), and so are its derivatives, however often one
# differentiates.
# What happens: first and second derivatives agree, and the third one of logcumsumexp is NaN, for two ordinary numbers.
# Its rule splits the incoming gradient into the logarithms of its positive and negative parts, with -inf for the
# others, and the derivative of that logarithm divides by 0.
#
# Seen with PyTorch 2.14.1.
#
# Why it matters: forward recursions of hidden Markov models, survival likelihoods (Cox) and stick-breaking weights are
# running sums of exponentials. A Hessian of a gradient penalty, or a sensitivity of a Newton step, is a third
# derivative.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 torch==2.14.1

cat > "$folder/seen.py" <<'EOF'
import math

import torch


def derivatives(function):
    x = torch.tensor(0.25, dtype=torch.float64, requires_grad=True)
    y, found = function(torch.stack([x, 2 * x])), []
    for _ in range(3):
        (y,) = torch.autograd.grad(y, x, create_graph=True)
        found.append(y.item())
    return found


whole = derivatives(lambda pair: torch.logsumexp(pair, 0))
running = derivatives(lambda pair: torch.logcumsumexp(pair, 0)[1])
print("logsumexp:", whole)
print("logcumsumexp:", running)
same = all(math.isclose(a, b, rel_tol=1e-12) for a, b in zip(whole[:2], running[:2], strict=True))
if not same or not math.isnan(running[2]) or not math.isclose(whole[2], -0.0306075120, rel_tol=1e-8):
    raise SystemExit("the third derivative is another one now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
