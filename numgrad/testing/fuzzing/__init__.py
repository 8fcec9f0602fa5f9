"""Random programs: their derivatives are computed in many ways, and compared with differences."""
