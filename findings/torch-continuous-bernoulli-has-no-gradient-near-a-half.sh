#!/usr/bin/env bash
# Samples of PyTorch's ContinuousBernoulli have no gradient in their parameter where that is near a half.
#
# One would expect: rsample is differentiable ("has_rsample" is true), and the gradient of the mean of samples is the
# gradient of the mean, which is 1/3 for probs = 0.5 and near it.
# What happens: between 0.499 and 0.501 cdf and icdf are those of the uniform distribution, without the parameter, so that
# the gradient of icdf(u) and of every sample is exactly 0; at 0.4989 and at 0.5011 it is 1/3. The cdf jumps by 2.5e-4 at
# the ends of the interval, in double precision, too. The property mean and log_prob have a series there and are right.
# The limits are the default of an option, lims=(0.499, 0.501).
#
# Seen with PyTorch 2.14.1.
#
# Why it matters: it is the distribution for grey values in variational autoencoders, and a half is where a network starts
# whose last layer is small, and what a pixel without information stays at. There the path through a sample
# trains nothing, as if the decoder had been detached, for one pixel and not for its neighbour.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 torch==2.14.1

cat > "$folder/seen.py" <<'EOF'
import math

import torch

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
u = (torch.arange(1000) + 0.5) / 1000


def gradients(p):
    """Of the mean as a property, of the mean over quantiles, and of the mean over samples."""
    found = []
    for mean in (lambda d: d.mean, lambda d: d.icdf(u).mean(), lambda d: d.rsample((20_000,)).mean()):
        probs = torch.tensor(p, requires_grad=True)
        (slope,) = torch.autograd.grad(mean(torch.distributions.ContinuousBernoulli(probs=probs)), probs)
        found.append(slope.item())
    return found


def right_cdf(p, x):
    """The integral of the density, which is proportional to (p / (1 - p)) ** x."""
    rate = math.log(p / (1 - p))
    return math.expm1(rate * x) / math.expm1(rate) if rate else x


seen = {}
for p in (0.3, 0.4989, 0.4991, 0.5, 0.5009, 0.5011, 0.7):
    cdf = torch.distributions.ContinuousBernoulli(probs=torch.tensor(p)).cdf(torch.tensor(0.5)).item()
    seen[p] = [*gradients(p), cdf - right_cdf(p, 0.5)]
    print(f"probs {p}: gradient of the mean {seen[p][0]:.6f}, of quantiles {seen[p][1]:.6f}, of samples {seen[p][2]:.4f}; "
          f"error of the cdf at 0.5 {seen[p][3]:.1e}")
inside, outside = (0.4991, 0.5, 0.5009), (0.3, 0.4989, 0.5011, 0.7)
if any(abs(seen[p][0] - 1 / 3) > 1e-4 for p in inside) or any(abs(seen[p][1] / seen[p][0] - 1) > 1e-4 for p in outside):
    raise SystemExit("the gradients of the mean are others now")
if any(seen[p][1] or seen[p][2] for p in inside) or abs(seen[0.4991][3]) < 1e-4:
    raise SystemExit("samples have a gradient now")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
