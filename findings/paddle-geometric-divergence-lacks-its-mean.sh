#!/usr/bin/env bash
# PaddlePaddle's divergence between two geometric distributions is too small by the factor p.
#
# One would expect: the divergence of Geometric(p) from Geometric(q) is the mean of log_pmf(k) under p minus the same
# under q: log(p / q) + (1 - p) / p log((1 - p) / (1 - q)).
# What happens: kl_divergence returns that of one Bernoulli trial, p log(p / q) + (1 - p) log((1 - p) / (1 - q)), which is
# p times the right one: for 0.01 and 0.02 it is 0.0031 instead of 0.31. The formula in its documentation is a third one,
# p / q log(p / q) + log(1 - p) - log(1 - q), and is -0.34 there, where no divergence is negative. The mean, the entropy
# and log_pmf are right.
#
# Seen with PaddlePaddle 3.3.1.
#
# Why it matters: a divergence is the penalty of variational inference and of trust regions. It is smallest at the right
# place and never negative, so it looks well, and weighs a hundredth of what it should for rare events.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 paddlepaddle==3.3.1

cat > "$folder/seen.py" <<'EOF'
import math

import numpy as np
import paddle
from paddle.distribution import Geometric, kl_divergence

factors = []
for p, q in ((0.3, 0.36), (0.5, 0.1), (0.01, 0.02)):
    first, second = (Geometric(paddle.to_tensor(x, dtype="float64")) for x in (p, q))
    k = np.arange(10_000)
    logs = [[math.log(x) + i * math.log1p(-x) for i in k] for x in (p, q)]
    right = float(np.sum(np.exp(logs[0]) * (np.array(logs[0]) - np.array(logs[1]))))
    closed = math.log(p / q) + (1 - p) / p * math.log((1 - p) / (1 - q))
    documented = p / q * math.log(p / q) + math.log(1 - p) - math.log(1 - q)
    found = float(kl_divergence(first, second))
    factors.append(found / right / p)
    print(f"p {p}, q {q}: found {found:.6g}, right {right:.6g} (closed {closed:.6g}), documented {documented:.6g}")
    print(f"    found / right = {found / right:.6f}; mean {float(first.mean):.4f}, log_pmf(1) {float(first.log_pmf(1)):.5f}", end=" ")
    print(f"right {(1 - p) / p:.4f}, {logs[0][1]:.5f}")
    print(f"    entropy {float(first.entropy()):.5f}, right {-np.dot(np.exp(logs[0]), logs[0]):.5f}")
if not np.allclose(factors, 1, rtol=1e-4):
    raise SystemExit("the divergence is another one now")
EOF
cd "$folder" && "$folder/venv/bin/python" -W ignore seen.py
