"""Pictures and tables of graphs and programs."""

from .dot import Dot as Dot
from .dot import dot as dot
