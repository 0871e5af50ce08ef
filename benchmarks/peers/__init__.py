#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Other packages on the same work, in one run: the page is README.md of this folder."""
