#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Expectations over latent variables of the rows of a batch, in the log density of the data."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from pytensor.graph.op import Op
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable

__all__ = ["LocalExpectation", "find_expectations"]


class LocalExpectation(Op):
    r"""An expectation over latent variables of the rows, estimated for each minibatch.

    If the latent variables z of a distribution cannot be summed out, it writes the joint log
    density of data and latent variables, with expectations in place of the sufficient statistics.
    By Fisher's identity,

    .. math::

        \nabla \log p(x \mid \phi) = E_{z \mid x, \phi} \nabla \log p(x, z \mid \phi),

    its gradient with the expectation held fixed is that of the log density. The
    stochastic-gradient steps call :meth:`estimate` once per minibatch. Nothing else can evaluate
    it.
    """

    @abstractmethod
    def estimate(self, rng: np.random.Generator, *inputs: np.ndarray) -> np.ndarray:
        """Estimate the output from the values of the inputs."""

    def perform(self, node, inputs, output_storage):
        """Raise an error, because there is no value without a random generator."""
        raise NotImplementedError(
            f"The log density of this model has no closed form ({type(self).__name__}), so only "
            "its gradient can be estimated. Sample it with `pmg.SGRLD`, `pmg.SGNHT` or another "
            "stochastic-gradient step of pymc_geodesic. Instead of its log likelihood, "
            "`pmg.topics.document_completion_perplexity` compares models by held-out words."
        )


def find_expectations(outputs: list[TensorVariable]) -> list[TensorVariable]:
    """Find the expectations that graphs depend on."""
    return [
        variable
        for variable in ancestors(outputs)
        if variable.owner is not None and isinstance(variable.owner.op, LocalExpectation)
    ]
