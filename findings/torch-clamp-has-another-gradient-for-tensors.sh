#!/usr/bin/env bash
# At its bound, torch.clamp has the gradient 0 if the bound is a number, and 1/2 if it is a tensor.
#
# One would expect: x.clamp(min=1.0) and x.clamp(min=torch.tensor(1.0)) are the same function and have the same
# gradient.
# What happens: where x is equal to the bound, the first has the gradient 0, as hardtanh has. The second has 1/2, as
# torch.maximum has, and gives the other half to the bound. It is the same with both bounds.
#
# Seen with PyTorch 2.14.1.
#
# Why it matters: values on a bound are the rule after a projection, in images of 0 and 255, for zeros of a ReLU and for
# counts. Making a constant bound a parameter, or moving it to the device as a tensor, changes the gradient of a model
# at these elements.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 torch==2.14.1

cat > "$folder/seen.py" <<'EOF'
import torch

x = torch.tensor([1.0, 2.0, 0.0], requires_grad=True)
low, high = torch.tensor(1.0), torch.tensor(2.0)


def gradient(y):
    return torch.autograd.grad(y.sum(), x)[0].tolist()


seen = {
    "clamp(min=1.0)": gradient(x.clamp(min=1.0)),
    "clamp(min=tensor(1.0))": gradient(x.clamp(min=low)),
    "clamp(1.0, 2.0)": gradient(x.clamp(1.0, 2.0)),
    "clamp(tensor(1.0), tensor(2.0))": gradient(x.clamp(low, high)),
}
for name, value in seen.items():
    print(f"gradient of {name} at [1, 2, 0]: {value}")
if list(seen.values()) != [[0.0, 1.0, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 0.0], [0.5, 0.5, 0.0]]:
    raise SystemExit("clamp has other gradients now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
