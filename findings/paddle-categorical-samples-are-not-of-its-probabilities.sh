#!/usr/bin/env bash
# PaddlePaddle's Categorical draws from other probabilities than it says that it has.
#
# One would expect: Categorical([0.2, 0.5, 0.3]) has one set of probabilities, whether its argument, which is called
# logits, is taken for weights or for logarithms.
# What happens: probs and log_prob divide the argument by its sum: 0.2, 0.5, 0.3. sample, entropy and kl_divergence take
# it for logarithms and draw with the probabilities exp(0.2), exp(0.5), exp(0.3) over their sum: 0.29, 0.39, 0.32. So the
# weights [2, 5, 3] have the same probs and other samples. The logarithms [1.2, -0.5, 0.3] have the "probability" -0.5,
# and its logarithm is NaN.
#
# Seen with PaddlePaddle 3.3.1.
#
# Why it matters: policy gradients are log_prob of what sample drew, and a mean over samples is to agree with the sum
# over probs. Here both are wrong for every argument but equal ones, whichever reading is meant, and only a count of
# samples shows it.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 paddlepaddle==3.3.1

cat > "$folder/seen.py" <<'EOF'
import numpy as np
import paddle
from paddle.distribution import Categorical

paddle.seed(0)
draws, places = 200_000, paddle.to_tensor([0, 1, 2])


def look(argument):
    """The probabilities that the distribution has, by its methods and by counting."""
    distribution = Categorical(paddle.to_tensor(argument, dtype="float64"))
    said = distribution.probs(places).numpy()
    drawn = np.bincount(distribution.sample([draws]).numpy().astype(int), minlength=3) / draws
    print(f"{argument}: probs {said.round(4).tolist()}, log_prob {distribution.log_prob(places).numpy().round(4).tolist()}")
    print(f"    drawn {drawn.round(4).tolist()}, entropy {float(distribution.entropy()):.4f}")
    return said, drawn, float(distribution.entropy()), distribution.log_prob(places).numpy()


def entropy(p):
    return -float(np.sum(p * np.log(p)))


weights = np.array([0.2, 0.5, 0.3])
softmax = np.exp(weights) / np.exp(weights).sum()
said, drawn, found, _ = look([0.2, 0.5, 0.3])
said_of_tenfold, drawn_of_tenfold, _, _ = look([2.0, 5.0, 3.0])
said_of_logarithms, _, _, logarithms = look([1.2, -0.5, 0.3])
print(f"entropy of 0.2, 0.5, 0.3: {entropy(weights):.4f}; of their softmax {softmax.round(4).tolist()}: {entropy(softmax):.4f}")
if not (np.allclose(said, weights) and np.allclose(said_of_tenfold, weights)):
    raise SystemExit("probs are others now")
if not np.allclose(drawn, softmax, atol=0.01) or not np.isclose(found, entropy(softmax)) or drawn_of_tenfold[1] < 0.8:
    raise SystemExit("samples are drawn otherwise now")
if not said_of_logarithms[1] < 0 or not np.isnan(logarithms[1]):
    raise SystemExit("logarithms have other probabilities now")
EOF
cd "$folder" && "$folder/venv/bin/python" -W ignore seen.py
