#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""When chains that tune themselves measure again."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Stages"]

# Shares of the tuning phase after which the mass is corrected by draws, and after which the number
# of transitions per draw is chosen. The thermostat settles in the second half. Draws that are then
# farther apart than before correct the mass once more: those before may not have gone far enough.
REFINED_AT, COUNTED_AT, LATE_AT = (0.2, 0.45), 0.75, 0.85
# Shares after which the friction of every entry is corrected by temperatures; the mean of all these
# corrections is used at the end.
BALANCED_AT = (0.55, 0.65, 0.75, 0.85, 0.95)
# Share after which velocities tell whether gradients are noisier than measured.
HEATED_AT = 0.95


@dataclass(frozen=True)
class Stages:
    """Draws of a tuning phase before which something is measured.

    Parameters
    ----------
    tuning_draws : int
        Length of the tuning phase.
    """

    tuning_draws: int

    @property
    def refined(self) -> list[int]:
        """Draws before which those so far correct the mass."""
        return [self._after(share) for share in REFINED_AT]

    @property
    def counted(self) -> int:
        """The draw before which the number of transitions per draw is chosen."""
        return self._after(COUNTED_AT)

    @property
    def late(self) -> int:
        """The draw before which the mass of slow chains is corrected once more."""
        return self._after(LATE_AT)

    @property
    def balanced(self) -> list[int]:
        """Draws before which the friction of every entry is corrected."""
        return [self._after(share) for share in BALANCED_AT]

    @property
    def heated(self) -> int:
        """The draw before which the temperature of velocities corrects the step size."""
        return self._after(HEATED_AT)

    def all(self, *, balances: bool, cools: bool) -> list[int]:
        """List the draws before which chains measure, if they do, in their order."""
        found = {*self.refined, self.counted, self.late}
        found |= set(self.balanced if balances else ()) | ({self.heated} if cools else set())
        return sorted(found)

    def _after(self, share: float) -> int:
        return int(share * self.tuning_draws)
