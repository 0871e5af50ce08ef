#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""One sampler per file: its state, its transition, its parameters and its tuning rule."""
