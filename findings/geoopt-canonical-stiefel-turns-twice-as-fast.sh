#!/usr/bin/env bash
# A step along a tangent vector of geoopt's CanonicalStiefel starts with another velocity than that vector.
#
# One would expect: retr(x, t v) is x + t v to first order in t; this is what makes it a retraction, and expmap(x, t v) is so, too.
# What happens: the velocity is v + x x' v. The part of v that turns the columns of x among themselves is doubled, the part
# that leaves their span is right. For square matrices, which have the first part alone, every step is twice as long as
# it says. v is a tangent vector by geoopt's own check. EuclideanStiefel of the same library, with the same points
# and vectors, is right.
#
# Seen with geoopt 0.5.1 and PyTorch 2.14.1, in double precision.
#
# Why it matters: optimizers with momentum, line searches and integrators of flows go along vectors by retr. Their steps are
# longer than what they compute with, by another factor in each direction, and a flow on rotations ends at
# twice the time.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 torch==2.14.1 geoopt==0.5.1

cat > "$folder/seen.py" <<'EOF'
import geoopt
import torch

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
step, off = 1e-5, {}
for rows in (5, 3):
    x, _ = torch.linalg.qr(torch.randn(rows, 3))
    u = torch.randn(rows, 3)
    v = u - x @ (x.T @ u + u.T @ x) / 2  # x' v is skew
    for name in ("EuclideanStiefel", "CanonicalStiefel"):
        manifold = getattr(geoopt, name)()
        if not manifold.check_vector_on_tangent(x, v, atol=1e-9):
            raise SystemExit("v is no tangent vector now")
        velocity = (manifold.retr(x, step * v) - manifold.retr(x, -step * v)) / (2 * step)
        by_exp = (manifold.expmap(x, step * v) - manifold.expmap(x, -step * v)) / (2 * step)
        doubled = v + x @ x.T @ v
        off[rows, name] = [(a - b).abs().max().item() for a, b in ((velocity, v), (by_exp, v), (velocity, doubled))]
        print(f"{name}, {rows} x 3: retr is off from v by {off[rows, name][0]:.2g}, expmap by {off[rows, name][1]:.2g}; "
              f"retr is off from v + x x' v by {off[rows, name][2]:.2g}; length {velocity.norm() / v.norm():.4f} of v")
if any(off[rows, "EuclideanStiefel"][0] > 1e-6 for rows in (5, 3)):
    raise SystemExit("EuclideanStiefel is another one now")
if any(off[rows, "CanonicalStiefel"][0] < 0.1 or off[rows, "CanonicalStiefel"][2] > 1e-6 for rows in (5, 3)):
    raise SystemExit("CanonicalStiefel has another velocity now")
EOF
"$folder/venv/bin/python" -W ignore "$folder/seen.py"
