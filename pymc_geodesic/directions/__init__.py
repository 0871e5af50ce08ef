#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Directions as fields write them, in degrees: dip and strike, trend and plunge, bearings, places.

Each convention is one entry of a table; see :class:`Convention` and :func:`register_convention`.
"""

from pymc_geodesic.directions.conventions import (
    Convention,
    from_angles,
    register_convention,
    to_angles,
)
from pymc_geodesic.directions.lines import (
    angle_to_azimuth,
    azimuth_to_angle,
    from_azimuth,
    from_declination,
    from_trend,
    to_azimuth,
    to_declination,
    to_trend,
)
from pymc_geodesic.directions.planes import (
    from_dip,
    from_latitude,
    from_strike,
    to_dip,
    to_latitude,
    to_strike,
)
from pymc_geodesic.directions.summary import summary

__all__ = [
    "Convention",
    "angle_to_azimuth",
    "azimuth_to_angle",
    "from_angles",
    "from_azimuth",
    "from_declination",
    "from_dip",
    "from_latitude",
    "from_strike",
    "from_trend",
    "register_convention",
    "summary",
    "to_angles",
    "to_azimuth",
    "to_declination",
    "to_dip",
    "to_latitude",
    "to_strike",
    "to_trend",
]
