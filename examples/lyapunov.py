"""Lyapunov exponents of the Lorenz (1963) system from exact Jacobians of its flow.

How fast do nearby weather states part? The exponents are the mean growth rates of an orthogonal
frame carried along a trajectory. Each stretch of the trajectory is simulated with NumPy-style code
on a tensor; its 3 x 3 Jacobian comes from one batched vector-Jacobian product.

Their sum is known exactly: the divergence of the flow, -(sigma + 1 + beta).
"""

import numpy as np

import numgrad as ng

SIGMA, RHO, BETA = 10.0, 28.0, 8.0 / 3.0
DT, STEPS, STRETCHES = 0.01, 20, 250


def slope(state):
    x, y, z = state[0], state[1], state[2]
    return ng.stack([SIGMA * (y - x), x * (RHO - z) - y, x * y - BETA * z])


def flow(state):
    """One stretch of the trajectory by the classical Runge-Kutta method."""
    for _ in range(STEPS):
        k1 = slope(state)
        k2 = slope(state + 0.5 * DT * k1)
        k3 = slope(state + 0.5 * DT * k2)
        k4 = slope(state + DT * k3)
        state = state + DT / 6.0 * (k1 + 2.0 * (k2 + k3) + k4)
    return state


def exponents(start, stretches=STRETCHES):
    """Mean growth rates of a frame that is made orthogonal again after every stretch."""
    frame, growth = np.eye(3), np.zeros(3)
    for _ in range(stretches):
        before = ng.tensor(start, requires_grad=True)
        after = flow(before)
        (jacobian,) = ng.grad(after, before, grad_outputs=np.eye(3), is_grads_batched=True)
        frame, stretched = np.linalg.qr(jacobian.numpy() @ frame)
        growth += np.log(np.abs(np.diagonal(stretched)))
        start = after.detach().numpy()
    return growth / (stretches * STEPS * DT)


def main():
    on_the_attractor = np.array([-5.77, -4.98, 24.97])
    found = exponents(on_the_attractor)
    print("exponents", np.array2string(found, precision=3))
    expected = -(SIGMA + 1.0 + BETA)
    print(f"sum {found.sum():.6f}, divergence of the flow {expected:.6f}")
    assert np.isclose(found.sum(), expected, rtol=1e-4)


if __name__ == "__main__":
    main()
