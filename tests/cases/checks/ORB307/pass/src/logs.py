# One log, see ADR-0002. It replaced ADR-0001.
LOGS = 1
