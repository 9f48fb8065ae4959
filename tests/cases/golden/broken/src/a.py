# see ADR-0088
