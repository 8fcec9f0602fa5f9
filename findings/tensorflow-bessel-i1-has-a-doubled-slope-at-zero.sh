#!/usr/bin/env bash
# TensorFlow's derivative of the Bessel function I1 is 1 at 0, where it is 1/2, and is right on both sides of it.
#
# One would expect: I1(x) is x / 2 near 0, so its derivative there is 1/2, as TensorFlow has it at 1e-3.
# What happens: at 0 itself tf.GradientTape returns 1. The formula I0(x) - I1(x) / x is replaced there, since it divides
# by 0, but by the limit of its first term alone. The second derivative of I0, which is the first of I1, is 1 instead of
# 1/2 for the same reason. J1, whose formula is the same one, has 1/2, and so has I1 times exp(-abs(x)).
#
# Seen with TensorFlow 2.21.0 on the CPU.
#
# Why it matters: the logarithm of I0 is the normalization of directions (von Mises) and of amplitudes with noise (Rice), and
# its concentration or signal starts at 0 and has symmetric models there. A curvature that is twice the right one halves
# Newton's step and changes standard errors, at one point only, where nobody compares with differences.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 tensorflow-cpu==2.21.0

cat > "$folder/seen.py" <<'EOF'
import tensorflow as tf

special = tf.math.special


def slopes(function, places):
    """The derivative by a tape."""
    x = tf.constant(places, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x)


def difference(function, step=1e-4):
    """The derivative at 0 by a central difference."""
    low, high = function(tf.constant([-step, step], tf.float64)).numpy()
    return (high - low) / (2 * step)


def slope_of_i0(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = special.bessel_i0(x)
    return tape.gradient(y, x)


found = {}
for name, function in (("I1", special.bessel_i1), ("slope of I0", slope_of_i0), ("J1", special.bessel_j1),
                       ("I1 times exp(-abs(x))", special.bessel_i1e)):
    found[name] = slopes(function, [-1e-3, 0.0, 1e-3]).numpy().tolist()
    print(f"{name}: slopes at -0.001, 0 and 0.001 {found[name]}, at 0 by differences {difference(function):.6f}")
if not all(abs(slope[i] - 0.5) < 1e-2 for slope in found.values() for i in (0, 2)):
    raise SystemExit("the derivatives beside 0 are others now")
if [found[name][1] for name in found] != [1.0, 1.0, 0.5, 0.5]:
    raise SystemExit("the derivatives at 0 are others now")
EOF
TF_CPP_MIN_LOG_LEVEL=3 "$folder/venv/bin/python" -W ignore "$folder/seen.py"
