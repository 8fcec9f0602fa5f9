"""
Molecular dynamics from an energy alone
========================================

Particles that attract and repel each other, moved by the gradient of their energy. Nobody derives
forces by hand, so another energy is one line; and as the forces are exact, the total energy stays
where it was.
"""

# %%
# The Lennard-Jones energy of all pairs, in a box that repeats itself.

import matplotlib.pyplot as plt
import numpy as np

import numgrad as ng

side, count = 8.0, 36
first, second = np.triu_indices(count, 1)


def energy(x):
    apart = x[first] - x[second]
    apart = apart - side * ng.round(apart / side)  # to the nearest image
    inverse = 1.0 / (apart**2).sum(axis=-1)
    return 4.0 * (inverse**6 - inverse**3).sum()


# %%
# ``ng.jit`` makes one program of the energy and of its gradient: a step calls it once.

value_and_slope = ng.jit(ng.func.value_and_grad(energy))


def simulate(x, v, dt, steps):
    """Move by the rule of Verlet; return positions and energies."""
    potential, slope = value_and_slope(x)
    places, energies = [x], [[potential, 0.5 * (v**2).sum()]]
    for _ in range(steps):
        v = v - 0.5 * dt * slope
        x = x + dt * v
        potential, slope = value_and_slope(x)
        v = v - 0.5 * dt * slope
        places.append(x)
        energies.append([potential, 0.5 * (v**2).sum()])
    return np.array(places), np.array(energies)


# %%
# A square lattice melts.

rng = np.random.default_rng(1)
lattice = np.stack(np.meshgrid(*[np.arange(6) * side / 6] * 2), -1).reshape(-1, 2)
speed = rng.standard_normal((count, 2))
speed -= speed.mean(axis=0)
places, energies = simulate(lattice, speed, 0.004, 1500)
total = energies.sum(axis=1)
drift = np.abs(total - total[0]).max() / np.abs(energies[:, 1]).max()
print(f"the total energy stays within {drift:.1e} of the kinetic one")
assert drift < 1e-2

# %%
# With half the step the error is a quarter, as theory has it for the rule of Verlet.

halved = simulate(lattice, speed, 0.002, 400)[1].sum(axis=1)
ratio = np.ptp(total[:200]) / np.ptp(halved[:400])
print(f"half the step: {ratio:.2f} times as exact")
assert 3 < ratio < 5

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
left.plot(*(places % side).transpose(2, 0, 1)[:, ::20], ".", ms=1)
left.set(xlim=(0, side), ylim=(0, side), aspect="equal", title="positions")
time = 0.004 * np.arange(len(total))
for values, name in zip((*energies.T, total), ("potential", "kinetic", "total"), strict=True):
    right.plot(time, values, label=name)
right.set(xlabel="time", title="energy")
right.legend()
plt.show()
