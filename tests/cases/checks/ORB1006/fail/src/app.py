print(1)  # orbit: allow ADR-0001
