#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The engine: one compiled scan over transitions, fed with noise and rows from the host."""

from pymc_geodesic.kernel.backend import Backend
from pymc_geodesic.kernel.kernel import Kernel, KernelOutput
from pymc_geodesic.kernel.streams import BatchStream, draw_noise

__all__ = ["Backend", "BatchStream", "Kernel", "KernelOutput", "draw_noise"]
