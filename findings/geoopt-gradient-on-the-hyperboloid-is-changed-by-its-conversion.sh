#!/usr/bin/env bash
# geoopt's Lorentz.egrad2rgrad changes the gradient that it is given: a second call has another result.
#
# One would expect: egrad2rgrad(x, g) computes the Riemannian gradient from the Euclidean one, as projections and inner products
# compute, without writing to g; that of the sphere and of the Poincare ball leave g as it is.
# What happens: the sign of the first component of g is changed in place, on the way. The first result is right. g has another
# direction afterwards, and the second call with it gives the gradient of another function.
#
# Seen with geoopt 0.5.1 and PyTorch 2.14.1.
#
# Why it matters: the function is called with x.grad. Who looks at the norm before and after, logs the Euclidean gradient, checks
# the derivative along a vector, accumulates another batch into x.grad or calls it once for a line search and once for the
# step gets numbers that fit nothing, with hyperbolic embeddings and not with the others.
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
seen = {}
for name, manifold in (("Sphere", geoopt.Sphere()), ("PoincareBall", geoopt.PoincareBall()), ("Lorentz", geoopt.Lorentz())):
    x = manifold.random_normal(3).data if name != "Sphere" else manifold.random_uniform(3).data
    x = x.as_subclass(torch.Tensor)
    gradient = torch.tensor([0.5, -1.0, 2.0])
    before, v = gradient.clone(), manifold.proju(x, torch.randn(3))
    first = manifold.egrad2rgrad(x, gradient).clone()
    after = gradient.clone()
    slopes = [manifold.inner(x, v, r).sum().item() for r in (first, manifold.egrad2rgrad(x, gradient))]
    seen[name] = torch.equal(after, before), slopes, (before @ v).item()
    print(f"{name}: gradient {before.tolist()}, afterwards {after.tolist()}; slopes along a tangent vector by two calls {slopes}, "
          f"right {seen[name][2]:.9g}")
if any(abs(slopes[0] - right) > 1e-9 for _, slopes, right in seen.values()):
    raise SystemExit("the first results are others now")
if not (seen["Sphere"][0] and seen["PoincareBall"][0]):
    raise SystemExit("other manifolds have changed")
if seen["Lorentz"][0] or abs(seen["Lorentz"][1][1] - seen["Lorentz"][2]) < 1e-3:
    raise SystemExit("the gradient is left as it is now")
EOF
"$folder/venv/bin/python" -W ignore "$folder/seen.py"
