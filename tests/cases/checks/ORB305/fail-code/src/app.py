# ADR-0001: one log
# ADR-0042: nobody knows
