"""The author's door: declarations of operators and their derivatives, and the registry."""

from .elementwise import Elementwise as Elementwise
from .elementwise import elementwise as elementwise
from .host import HostOperator as HostOperator
from .host import NumPyFunction as NumPyFunction
from .host import host_operator as host_operator
from .kernel import KeepsOrder as KeepsOrder
from .kernel import KernelOperator as KernelOperator
from .kernel import kernel_operator as kernel_operator
from .operands import align as align
from .operands import constant as constant
from .operands import zeros as zeros
from .operator import Operator as Operator
from .operator import registry as registry
from .reduction import Blocks as Blocks
from .reduction import reduction as reduction
from .structural import CannotViewError as CannotViewError
from .structural import StructuralOperator as StructuralOperator
from .structural import ViewOperator as ViewOperator
from .structural import view as view
from .user.operator import UserOperator as UserOperator
from .user.operator import operator as operator
