"""Programs of backward passes, not run."""

import numgrad as ng
from numgrad.engine.derivatives.batching import with_rows
from numgrad.engine.differentiate.backward import BackwardPass, Request
from numgrad.engine.differentiate.method import Method
from numgrad.engine.differentiate.saved_values import take_saved
from numgrad.engine.differentiate.walk import walk
from numgrad.engine.lower import lower as programs
from numgrad.engine.record.apply import deferring
from numgrad.engine.replay import plan_cache
from numgrad.targets.null import NullTarget


def backward_program(output, inputs, seed, batch=None):
    """Lower the backward pass of ``output`` on the null target."""
    value = with_rows(seed) if batch is not None else seed
    request = Request(
        [(output.edge, value)], [x.edge for x in inputs], batch=batch, retain_graph=True
    )
    plan_cache.forget()  # an earlier pass of this structure would be repeated
    run = BackwardPass(request)
    run.method = Method()  # it would compute at once
    take_saved(run, run.wanted)
    with deferring(True, []), ng.no_grad():
        run._seed()
        walk(run)
    return programs.lower([run.grads[x.edge] for x in inputs], NullTarget(), batch)
