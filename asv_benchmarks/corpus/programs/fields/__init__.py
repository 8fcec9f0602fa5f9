"""Programs of many fields, written as their textbooks write them."""

from . import assemblies, chains, flows, likelihoods, meshes, problems, tables

CHAPTERS = (chains, meshes, flows, likelihoods, problems, assemblies, tables)
