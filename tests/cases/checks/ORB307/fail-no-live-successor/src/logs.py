# Two logs, see ADR-0001.
LOGS = 2
