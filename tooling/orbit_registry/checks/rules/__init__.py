"""The rules of the gate, one module a family; each function under `@check` is one rule."""
