"""The Jacobian of a small network at each of many samples, in as many passes as it has outputs.

``ng.func.vmap(ng.func.jacrev(network))`` is all it takes: the Jacobian is written for one sample,
and `vmap` takes it to all of them at once, as many small Jacobians, not one of all outputs by all
inputs. They say how sensitive a classifier is to its inputs, here to noise.
"""

import numpy as np

import numgrad as ng

INPUTS, HIDDEN, OUTPUTS, SAMPLES = 16, 32, 4, 1000


def layers(rng):
    """Return weights and biases of three layers."""
    sizes = [(INPUTS, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, OUTPUTS)]
    return [(rng.normal(size=s) / np.sqrt(s[0]), 0.1 * rng.normal(size=s[1])) for s in sizes]


def network(x, parameters):
    """Return the outputs for samples, or one of them, along the last axis."""
    *hidden, (weights, bias) = parameters
    for w, b in hidden:
        x = ng.tanh(x @ w + b)
    return x @ weights + bias


def per_sample_jacobians(x, parameters):
    """Return an array of shape (samples, outputs, inputs)."""
    return ng.func.vmap(ng.func.jacrev(network), in_axes=(0, None))(x, parameters)


def by_sums(x, parameters):
    """The same without `vmap`: samples do not mix, so the gradient of the sum of an output over all
    samples has the gradient of each sample in its row."""
    x = ng.tensor(x, requires_grad=True)
    y = network(x, parameters)
    seeds = np.zeros((OUTPUTS, *y.shape))
    seeds[range(OUTPUTS), :, range(OUTPUTS)] = 1.0  # output n of every sample
    (rows,) = ng.grad(y, x, seeds, is_grads_batched=True)
    return np.moveaxis(rows.numpy(), 0, 1)


def by_hand(x, parameters):
    """The product of the layers' Jacobians, in NumPy."""
    *hidden, (weights, _) = parameters
    jacobian = np.broadcast_to(np.eye(INPUTS), (len(x), INPUTS, INPUTS))
    for w, b in hidden:
        x = np.tanh(x @ w + b)
        jacobian = (1 - x[:, :, None] ** 2) * (w.T @ jacobian)
    return weights.T @ jacobian


def main():
    rng = np.random.default_rng(0)
    parameters, x = layers(rng), rng.normal(size=(SAMPLES, INPUTS))
    jacobians = per_sample_jacobians(x, parameters)
    np.testing.assert_allclose(jacobians, by_hand(x, parameters), rtol=1e-11, atol=1e-13)

    np.testing.assert_allclose(by_sums(x, parameters), jacobians, rtol=1e-11, atol=1e-13)

    gains = np.linalg.norm(jacobians, ord=2, axis=(1, 2))
    print(f"{SAMPLES} Jacobians of {OUTPUTS} x {INPUTS}")
    print(f"largest gain of noise: median {np.median(gains):.2f}, greatest {gains.max():.2f}")


if __name__ == "__main__":
    main()
