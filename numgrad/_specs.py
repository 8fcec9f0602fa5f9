from .targets.cpu.kernels import ElementwiseSpec, LoopSpec, RawSpec
