#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Work-arounds for compiling with JAX; see docs/developing/upstream.md."""
