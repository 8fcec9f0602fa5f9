"""One program each of many fields, written as their textbooks write them."""

from . import chains, flows, likelihoods, meshes, problems

CHAPTERS = (chains, meshes, flows, likelihoods, problems)
