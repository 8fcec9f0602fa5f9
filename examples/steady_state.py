"""Who controls the flux? Sensitivities of the steady state of a metabolic pathway.

A chain of enzymes with reversible Michaelis-Menten kinetics turns a substrate into a product. At
the steady state all rates are equal: the flux. Its *control coefficients*, the logarithmic
derivatives to the amounts of the enzymes, come from the implicit function theorem, all of them for
one solve with the transpose of the Jacobian. By the summation theorem (Kacser and Burns 1973) they
add up to one.
"""

import numpy as np

import numgrad as ng

SUBSTRATE, PRODUCT = 10.0, 0.1
EQUILIBRIUM = np.array([3.0, 2.0, 5.0, 1.5, 4.0])
HALF = np.array([1.0, 0.5, 2.0, 0.8, 1.2])
AMOUNTS = np.array([2.0, 1.5, 1.0, 3.0, 2.5])


def rates(x, amounts):
    """The rates of the enzymes, given what lies between them."""
    chain = ng.concat([[SUBSTRATE], x, [PRODUCT]])
    before, after = chain[:-1], chain[1:]
    return amounts * (before - after / EQUILIBRIUM) / (HALF + before + after)


def balance(x, amounts):
    """What each enzyme makes, less what the next one takes."""
    flow = rates(x, amounts)
    return flow[:-1] - flow[1:]


def flux(amounts):
    x = ng.interop.scipy.root(balance, np.ones(4), (amounts,), tol=1e-13).x
    return rates(ng.asarray(x), amounts)[0]


def main():
    amounts = ng.tensor(AMOUNTS, requires_grad=True)
    found = flux(amounts)
    (slope,) = ng.grad(found, amounts)
    control = slope.numpy() * AMOUNTS / found.item()
    print(f"flux {found.item():.6f}")
    print(
        "control coefficients", np.array2string(control, precision=4), f"sum {control.sum():.12f}"
    )
    assert abs(control.sum() - 1.0) < 1e-10

    # The same state, approached in time from an empty pathway.
    run = ng.interop.scipy.solve_ivp(
        lambda t, x: balance(x, AMOUNTS), (0.0, 500.0), np.zeros(4), "BDF", rtol=1e-10, atol=1e-12
    )
    late = rates(run.y[:, -1], AMOUNTS).numpy()
    print(f"after a long time {late[0]:.6f}")
    np.testing.assert_allclose(late, found.item(), rtol=1e-6)


if __name__ == "__main__":
    main()
