#!/usr/bin/env bash
# Divisions of polynomials by orthax leave a remainder of the degree of the divisor, and a quotient without its constant.
#
# One would expect: polydiv, chebdiv, legdiv, hermdiv and the others, which are NumPy's for JAX ("computes the quotient
# and remainder"), return what NumPy's return: a remainder whose degree is below that of the divisor.
# What happens: the last step of the long division is not made. x**2 + 3 x + 5 by x + 1 is x and 2 x + 5, where it is x + 2
# and 3. The product of quotient and divisor plus the remainder is the dividend, so the usual check passes. It is so in all
# six bases.
#
# Seen with orthax 0.2.11, JAX 0.10.2 and NumPy 2.4.6.
#
# Why it matters: a remainder is asked for to be small: its value at the divisor's zero is the polynomial's there (Horner),
# a constant remainder of 0 shows a factor, and the chain of remainders is a greatest common divisor or a
# Sturm sequence, which never ends here. The functions that are beside these agree with NumPy's to the last digits.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 jax==0.10.2 orthax==0.2.11

cat > "$folder/seen.py" <<'EOF'
import jax
import numpy as np

jax.config.update("jax_enable_x64", True)
import orthax  # noqa: E402

bases = {"polynomial": "poly", "chebyshev": "cheb", "legendre": "leg", "hermite": "herm", "hermite_e": "herme", "laguerre": "lag"}
dividend, divisor = np.array([5.0, 3.0, 1.0]), np.array([1.0, 1.0])
early = []
for basis, short in bases.items():
    theirs, numpys = getattr(orthax, basis), getattr(np.polynomial, basis)
    quotient, remainder = (np.asarray(part) for part in getattr(theirs, short + "div")(dividend, divisor))
    right = getattr(numpys, short + "div")(dividend, divisor)
    back = getattr(numpys, short + "add")(getattr(numpys, short + "mul")(quotient, divisor), remainder)
    remainder = np.trim_zeros(remainder, "b")
    print(f"{basis}: quotient {quotient.tolist()}, remainder {remainder.tolist()}; NumPy {[part.tolist() for part in right]}; "
          f"put together again {back[:3].tolist()}")
    if not np.allclose(back[:3], dividend):
        raise SystemExit("quotient and remainder do not make up the dividend now")
    product = getattr(theirs, short + "mul")(dividend, divisor)
    if not np.allclose(product, getattr(numpys, short + "mul")(dividend, divisor)):
        raise SystemExit("products are others now")
    if len(remainder) == len(divisor) and not np.allclose(quotient, right[0]):
        early.append(basis)
if early != list(bases):
    raise SystemExit(f"divisions that stop early are {early} now")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
