"""
Which volatility matters? An Asian option under a local volatility
===================================================================

The price of an option on the mean of a share's price, by simulated paths, and its sensitivity to
every node of a surface of local volatility: one pass backwards, where differences take two
simulations for each of the nodes. The paths are a loop for Numba.
"""

# %%
# The volatility is interpolated in the logarithm of the price and taken from the current quarter.

import math

import matplotlib.pyplot as plt
import numpy as np

import numgrad as ng

spot, strike, rate, years, paths, steps = 100.0, 105.0, 0.02, 1.0, 5_000, 48
quarters, nodes = 4, np.log(np.array([60.0, 80.0, 90.0, 100.0, 110.0, 125.0, 160.0]))


@ng.njit
def price(spot, surface, nodes, draws):
    """Return the mean of the discounted payoffs over all paths."""
    total, dt = 0.0, years / draws.shape[1]
    for p in range(draws.shape[0]):
        x, mean = math.log(spot), 0.0
        for n in range(draws.shape[1]):
            quarter = surface[n * surface.shape[0] // draws.shape[1]]
            k = min(max(np.searchsorted(nodes, x), 1), nodes.size - 1)
            share = min(max((x - nodes[k - 1]) / (nodes[k] - nodes[k - 1]), 0.0), 1.0)
            sigma = quarter[k - 1] * (1.0 - share) + quarter[k] * share
            x += (rate - 0.5 * sigma**2) * dt + sigma * math.sqrt(dt) * draws[p, n]
            mean += math.exp(x) / draws.shape[1]
        total += max(mean - strike, 0.0)
    return math.exp(-rate * years) * total / draws.shape[0]


# %%
# A smile: low prices move more. Price and all sensitivities in one call, and two of them beside
# differences with the same draws.

rng = np.random.default_rng(3)
draws = rng.standard_normal((paths, steps))
smile = 0.2 + 0.25 * (nodes - math.log(spot)) ** 2 - 0.1 * (nodes - math.log(spot))
surface = smile * np.array([[1.0], [1.05], [1.1], [1.12]])

value, (delta, vegas) = ng.func.value_and_grad(price, argnums=(0, 1))(spot, surface, nodes, draws)
print(f"price {value:.3f}, delta {delta:.3f}, sum of the vegas {vegas.sum():.2f}")


def difference(h, at):
    above, below = surface.copy(), surface.copy()
    above[at] += h
    below[at] -= h
    return (price(spot, above, nodes, draws) - price(spot, below, nodes, draws)) / (2 * h)


for at in ((0, 3), (2, 4)):
    assert np.isclose(vegas[at], difference(1e-5, at), rtol=2e-3), at
moved = price(spot + 1e-3, surface, nodes, draws) - price(spot - 1e-3, surface, nodes, draws)
assert np.isclose(delta, moved / 2e-3, rtol=2e-3)

# %%
# The derivative of a path that stops at a barrier is another matter: the payoff jumps, and the mean
# of the slopes of paths is not the slope of the mean. A payoff that is continuous, as here, is what
# such derivatives need.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
for row in range(quarters):
    left.plot(np.exp(nodes), surface[row], "o-", label=f"quarter {row + 1}")
    right.plot(np.exp(nodes), vegas[row], "o-")
left.set(xlabel="price of the share", title="local volatility")
left.legend()
right.set(xlabel="price of the share", title="sensitivity of the option to each node")
plt.show()
