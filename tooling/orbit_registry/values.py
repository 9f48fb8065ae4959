"""Makes dataclasses at a quarter of what the standard library takes; it holds none of its own and knows no record.

The standard library writes six methods of each class as text and compiles them at every start: at two hundred classes
in reach of a command that was a sixth of a check that finds nothing changed. Here `__init__` alone is compiled, since
its parameters have names, and not before the first value is made; all else is shared. `fields`, `replace` and `asdict`
of the standard library work as ever.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass

Made = TypeVar("Made")
_set = object.__setattr__
_OMITTED = object()


def _dataclass(
    cls: type[Made] | None = None, /, *, frozen: bool = False, slots: bool = False, **rest: bool
) -> type[Made] | Callable[[type[Made]], type[Made]]:
    """Make a class a dataclass, as `dataclasses.dataclass`; with parameters other than these two by that itself."""

    def made(given: Any) -> Any:
        if rest:
            return dataclasses.dataclass(frozen=frozen, slots=slots, **rest)(given)
        given.__doc__ = given.__doc__ or given.__qualname__  # the signature that would stand here takes long to find
        dataclasses.dataclass(init=False, repr=False, eq=False)(given)
        held = fields(given)
        for name, method in _methods(given, held, frozen).items():
            if given.__dict__.get(name) is None:  # `__hash__` is None beside an `__eq__` of its own
                setattr(given, name, method)
        return _with_slots(given, [one.name for one in held]) if slots else given

    return made if cls is None else made(cls)


if not TYPE_CHECKING:
    dataclass = _dataclass


def _methods(cls: type, held: Sequence[Field[object]], frozen: bool) -> dict[str, object]:
    compared = [one.name for one in held if one.compare]
    shown = [one.name for one in held if one.repr]
    key = attrgetter(*compared) if compared else type

    def is_equal(self: object, other: object) -> bool:
        return bool(key(self) == key(other)) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: object) -> int:
        return hash(key(self))

    @recursive_repr()
    def said(self: object) -> str:
        return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    found = {"__init__": _first(cls, held, frozen), "__eq__": is_equal, "__repr__": said}
    if not frozen:
        return {**found, "__hash__": None}
    refusing = {"__setattr__": _refuse, "__delattr__": _refuse}
    return {**found, **refusing, "__hash__": hashed, "__getstate__": _state, "__setstate__": _restore}


def _first(cls: type, held: Sequence[Field[object]], frozen: bool) -> Callable[..., None]:
    """Return an `__init__` that puts the compiled one in its place: a command makes values of one class in three."""
    compiled: Any = None

    def first(self: object, /, *given: object, **named: object) -> None:
        nonlocal compiled
        compiled = compiled or _init(cls, held, frozen)
        for one in type(self).__mro__:
            if one.__dict__.get("__init__") is first:
                type.__setattr__(one, "__init__", compiled)
        compiled(self, *given, **named)

    return first


def _init(cls: type, held: Sequence[Field[object]], frozen: bool) -> object:
    """Return the one method that is written as text and compiled."""
    space: dict[str, object] = {"_set": _set, "_OMITTED": _OMITTED}
    parameters, lines = ["self"], []
    for one in held:
        name, default, value = one.name, f"_default_{one.name}", one.name
        if one.default_factory is not MISSING:
            space[default] = one.default_factory
            parameters += [f"{name}=_OMITTED"] if one.init else []
            value = f"{default}() if {name} is _OMITTED else {name}" if one.init else f"{default}()"
        elif one.default is not MISSING:
            space[default] = one.default
            parameters += [f"{name}={default}"] if one.init else []
            value = name if one.init else default
        elif one.init:
            parameters.append(name)
        else:
            continue
        lines.append(f" _set(self, {name!r}, {value})" if frozen else f" self.{name} = {value}")
    lines += [" self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    exec("\n".join([f"def __init__({', '.join(parameters)}):", *(lines or [" pass"])]), space)
    return space["__init__"]


def _with_slots(cls: type[Made], names: Sequence[str]) -> type[Made]:
    """Return the class anew: slots are made with a class alone."""
    left_out = {*names, "__dict__", "__weakref__"}
    body = {name: value for name, value in cls.__dict__.items() if name not in left_out}
    metaclass: Callable[..., type[Made]] = type(cls)
    made = metaclass(cls.__name__, cls.__bases__, {**body, "__slots__": tuple(names)})
    made.__qualname__ = cls.__qualname__
    return made


def _refuse(self: object, name: str, value: object = None) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to or delete field {name!r}")


def _state(self: Any) -> list[object]:
    return [getattr(self, one.name) for one in fields(self)]


def _restore(self: Any, state: Sequence[object]) -> None:
    for one, value in zip(fields(self), state, strict=True):
        _set(self, one.name, value)
