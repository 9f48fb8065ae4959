# orbit: allow ADR-0001 because the logger is not set up yet
print(1)
