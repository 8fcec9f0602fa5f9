"""The built-in operators, by chapter: declarations only."""

from . import cast as cast
from . import elementwise as elementwise
from . import reduction as reduction
from . import shape as shape
