log.info(1)  # orbit: allow ADR-0001 because it is a demo
