print(1)  # orbit: allow ADR-0001/no-print because it is a demo
