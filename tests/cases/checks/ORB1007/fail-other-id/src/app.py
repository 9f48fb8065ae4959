print(1)  # orbit: allow ADR-0002 because it is a demo
