"""The exceptions and warnings of numgrad, one class per situation.

Each is also of the classes that other libraries raise in it, so ported ``except`` clauses work.
"""

from ._errors import AnomalyError as AnomalyError
from ._errors import ArgTypeError as ArgTypeError
from ._errors import BatchedShapeError as BatchedShapeError
from ._errors import CacheWarning as CacheWarning
from ._errors import CaptureError as CaptureError
from ._errors import ClusterError as ClusterError
from ._errors import ConvergenceError as ConvergenceError
from ._errors import CustomGradError as CustomGradError
from ._errors import DeclarationError as DeclarationError
from ._errors import DetachedError as DetachedError
from ._errors import DeviceError as DeviceError
from ._errors import DtypeError as DtypeError
from ._errors import DuplicateError as DuplicateError
from ._errors import EmptyInputError as EmptyInputError
from ._errors import FreedGraphError as FreedGraphError
from ._errors import GradcheckError as GradcheckError
from ._errors import GradCountError as GradCountError
from ._errors import GradDtypeError as GradDtypeError
from ._errors import GradShapeError as GradShapeError
from ._errors import GraphError as GraphError
from ._errors import HookError as HookError
from ._errors import HookTypeError as HookTypeError
from ._errors import ImplicitGradError as ImplicitGradError
from ._errors import InplaceError as InplaceError
from ._errors import KernelError as KernelError
from ._errors import LeafInplaceError as LeafInplaceError
from ._errors import MatrixError as MatrixError
from ._errors import NoGradError as NoGradError
from ._errors import NonFiniteError as NonFiniteError
from ._errors import NotDifferentiableError as NotDifferentiableError
from ._errors import NumgradError as NumgradError
from ._errors import OperatorCallError as OperatorCallError
from ._errors import OperatorError as OperatorError
from ._errors import PlaceTypeError as PlaceTypeError
from ._errors import SparsityError as SparsityError
from ._errors import UnusedInputError as UnusedInputError

__all__ = [
    "AnomalyError",
    "ArgTypeError",
    "BatchedShapeError",
    "CacheWarning",
    "CaptureError",
    "ClusterError",
    "ConvergenceError",
    "CustomGradError",
    "DeclarationError",
    "DetachedError",
    "DeviceError",
    "DtypeError",
    "DuplicateError",
    "EmptyInputError",
    "FreedGraphError",
    "GradCountError",
    "GradDtypeError",
    "GradShapeError",
    "GradcheckError",
    "GraphError",
    "HookError",
    "HookTypeError",
    "ImplicitGradError",
    "InplaceError",
    "KernelError",
    "LeafInplaceError",
    "MatrixError",
    "NoGradError",
    "NonFiniteError",
    "NotDifferentiableError",
    "NumgradError",
    "OperatorCallError",
    "OperatorError",
    "PlaceTypeError",
    "SparsityError",
    "UnusedInputError",
]


def __dir__() -> list[str]:
    return __all__
