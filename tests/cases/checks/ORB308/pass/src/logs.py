# @adr 0002; ADR 1502 is an issue.
LOGS = 1
