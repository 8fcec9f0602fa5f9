"""
A neuron from its voltage, and when it fires: Hodgkin and Huxley (1952)
=======================================================================

The membrane of a neuron lets ions through channels that open and close with its voltage. How many
channels of each sort there are is found from a recording of the voltage alone, and then the model
says how the times of the spikes move with the current: the derivative of an event.
"""

# %%
# The slope of the voltage (mV) and of the shares of open gates, in milliseconds. The conductances
# of sodium, potassium and the leak (mS/cm2) are what nobody knows.

import matplotlib.pyplot as plt
import numpy as np

import numgrad as ng

true = np.array([120.0, 36.0, 0.3])
rest = np.array([-65.0, 0.0529, 0.5961, 0.3177])  # the voltage, and the gates m, h and n


def ratio(x):
    """Return x / (1 - exp(-x)), which is 1 + x / 2 near 0, where this form divides 0 by 0."""
    near = ng.abs(x) < 1e-6
    safe = ng.where(near, 1.0, x)
    return ng.where(near, 1.0 + 0.5 * x, safe / -ng.expm1(-safe))


def membrane(y, current, conductances):
    v, m, h, n = y
    sodium, potassium, leak = conductances
    opening = (
        ratio((v + 40.0) / 10.0),
        0.07 * ng.exp(-(v + 65.0) / 20.0),
        0.1 * ratio((v + 55.0) / 10.0),
    )
    closing = (
        4.0 * ng.exp(-(v + 65.0) / 18.0),
        1.0 / (1.0 + ng.exp(-(v + 35.0) / 10.0)),
        0.125 * ng.exp(-(v + 65.0) / 80.0),
    )
    through = sodium * m**3 * h * (v - 50.0) + potassium * n**4 * (v + 77.0) + leak * (v + 54.4)
    gates = [a * (1.0 - x) - b * x for a, b, x in zip(opening, closing, (m, h, n), strict=True)]
    return ng.stack([current - through, *gates])


# %%
# A recording: a current that is switched on and drifts, 2 400 steps of 0.02 ms, and noise of 1 mV.
# All steps are one operation, whose derivatives are loops as well.

dt = 0.02
times = dt * np.arange(2400)
current = np.where(times > 5.0, 9.0 + 3.0 * np.sin(0.2 * times), 0.0)


def voltage(conductances):
    """Return the voltage at all times, by the midpoint rule."""

    def step(y, current):
        middle = y + 0.5 * dt * membrane(y, current, conductances)
        y = y + dt * membrane(middle, current, conductances)
        return y, y[0]

    return ng.scan(step, rest, current)[1]


rng = np.random.default_rng(3)
recorded = voltage(true).numpy() + rng.standard_normal(times.size)

# %%
# The conductances that fit best, by Gauss and Newton's method with Levenberg's damping. Spikes that
# come too late or too early make a landscape of many valleys, so the fit begins with the first 15
# ms and goes on with all of it. The Jacobian has three columns: forward mode takes one pass.

start = np.array([100.0, 30.0, 0.5])


@ng.jit
def both(logs):
    return voltage(ng.exp(logs)), ng.func.jacfwd(lambda x: voltage(ng.exp(x)))(logs)


def fitted(logs, count, damping=1e-2):
    value, jacobian = both(logs)
    for _ in range(25):
        misfit, slopes = (value - recorded)[:count], jacobian[:count]
        square = slopes.T @ slopes
        move = np.linalg.solve(square + damping * np.diag(np.diag(square)), slopes.T @ misfit)
        moved, moved_jacobian = both(logs - move)
        if np.sum((moved - recorded)[:count] ** 2) < np.sum(misfit**2):
            logs, value, jacobian, damping = logs - move, moved, moved_jacobian, 0.3 * damping
        else:
            damping *= 10.0
    return logs


logs = fitted(fitted(np.log(start), 750), times.size)
found = np.exp(logs)
misfit = np.sqrt(np.mean((voltage(found).numpy() - recorded) ** 2))
print(f"sodium {found[0]:.1f}, potassium {found[1]:.2f}, leak {found[2]:.3f}")
print(f"the voltage is met to {misfit:.2f} mV")
assert misfit < 1.1
assert np.allclose(found, true, rtol=0.03)

# %%
# When does the neuron fire at a steady current, and how does a little more of it move the spikes?
# Each spike ends a solution where the voltage rises through 0 mV; the next solution begins there.


def spikes(current, count=3):
    """Return the times of the first spikes."""
    y, t, seen = ng.asarray(rest), 0.0, []
    for _ in range(count):
        spike = ng.ode.odeint_event(
            lambda y, t, current: membrane(y, current, found), y, ng.stack([t, t + 60.0]), current,
            event=lambda y, t, current: y[0], direction=1, method="tsit5",
        )
        y, t = spike.y, spike.t
        seen.append(t)
    return ng.stack(seen)


steady = 10.0
at = spikes(steady).numpy()
moves = ng.func.jacfwd(spikes)(steady)
near = [spikes(steady + h).numpy() for h in (1e-3, -1e-3)]
assert np.allclose(moves, (near[0] - near[1]) / 2e-3, rtol=1e-3)
for time, move in zip(at, moves, strict=True):
    print(f"a spike at {time:.3f} ms, {move:+.3f} ms for each uA/cm2 more")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
left.plot(times, recorded, lw=0.5, color="0.6", label="recorded")
left.plot(times, voltage(found).numpy(), label="fitted")
left.plot(times, voltage(start).numpy(), ":", label="at the start")
left.set(xlabel="ms", ylabel="mV")
left.legend()
right.stem(at, -moves)
right.set(xlabel="spikes at a steady current, ms", ylabel="earlier for each uA/cm2, ms")
plt.show()
