"""Our dataclasses do what those of the standard library do."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable, Sequence
from dataclasses import FrozenInstanceError, asdict, field, fields, replace
from typing import Any

import pytest

from orbit_registry import values

Make = Callable[..., Any]
BOTH = [values.dataclass, dataclasses.dataclass]
FORMS: list[dict[str, bool]] = [
    {}, {"slots": True}, {"frozen": True}, {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "order": True}, {"slots": True, "eq": False},
]  # fmt: skip


@values.dataclass(frozen=True, slots=True)
class Pair:
    """A value that a pickle can name."""

    left: int
    right: tuple[str, ...] = ()


def made(dataclass: Make, **form: bool) -> Any:
    """Return a class with a field of each sort."""

    @dataclass(**form)
    class Kind:
        name: str
        size: int = 3
        names: list[str] = field(default_factory=list)
        hidden: str = field(default="h", repr=False, compare=False)
        made_here: int = field(init=False, default=7)
        listed_here: list[int] = field(init=False, default_factory=list)

        @property
        def twice(self) -> int:
            """Return twice the size."""
            return self.size * 2

    return Kind


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_value_is_made_shown_compared_and_replaced_as_ever(form: dict[str, bool]) -> None:
    """Defaults, representation, equality, `replace` and `asdict` are those of the standard library."""

    def said(dataclass: Make) -> list[object]:
        kind = made(dataclass, **form)
        one, same, other = kind("a"), kind(name="a", hidden="x"), kind("a", 4, names=["n"])
        assert one.names is not same.names
        assert one.listed_here is not same.listed_here
        return [
            repr(one), repr(other), one == one, one == same, one == other, one != same, one == "a", one.twice,
            repr(replace(one, size=5)), asdict(other), [each.name for each in fields(kind)], kind.__match_args__,
            hasattr(one, "__dict__"), getattr(kind, "__slots__", None), kind.__qualname__, kind.__module__,
            kind.__hash__ is None,
        ]  # fmt: skip

    ours, theirs = map(said, BOTH)
    assert ours == theirs


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("given", [(), ("a", 1, [], "h", 7), ("a", 1, [], "h", [], 9)])
def test_wrong_arguments_are_refused(form: dict[str, bool], given: tuple[object, ...]) -> None:
    """A missing argument and one too many are a mistake of the caller's."""
    with pytest.raises(TypeError, match=r"__init__\(\)"):
        made(values.dataclass, **form)(*given)


@pytest.mark.parametrize("slots", [False, True])
def test_a_frozen_value_changes_in_no_way(slots: bool) -> None:
    """Neither a field nor anything else can be set or deleted, and equal values have one hash."""
    kind = made(values.dataclass, frozen=True, slots=slots)
    one = kind("a", names=("n",))
    for name in ("name", "made_up"):
        with pytest.raises(FrozenInstanceError, match=name):
            setattr(one, name, "b")
        with pytest.raises(FrozenInstanceError, match=name):
            delattr(one, name)
    assert one.name == "a"
    assert len({Pair(1), Pair(1), Pair(1, ("a",))}) == 2


def test_a_value_goes_through_a_pickle_and_a_copy() -> None:
    """Processes hand values to each other."""
    one = Pair(1, ("a",))
    assert pickle.loads(pickle.dumps(one)) == copy.copy(one) == copy.deepcopy(one) == one


def test_what_a_class_says_of_itself_stands() -> None:
    """Methods that a class has are not replaced, and what follows the first values is done."""

    @values.dataclass(frozen=True, slots=True)
    class Own(Sequence[int]):
        """A sequence."""

        held: tuple[int, ...]
        total: int = field(init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "total", sum(self.held))

        def __getitem__(self, place: Any) -> Any:
            return self.held[place]

        def __len__(self) -> int:
            return len(self.held)

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own) and other.total == self.total

        def __repr__(self) -> str:
            return "own"

    assert (Own((1, 2)).total, list(Own((1, 2))), repr(Own(())), Own((1, 2)) == Own((3,))) == (3, [1, 2], "own", True)
    assert Own((1,)) != (1,)
    assert hash(Own((1,))) == hash(Own((1,)))
    assert Own.__doc__ == "A sequence."


def test_one_without_fields_equals_each_other_of_its_kind() -> None:
    """There is nothing in which two could differ."""

    @values.dataclass(frozen=True, slots=True)
    class Nothing:
        pass

    assert (Nothing() == Nothing(), len({Nothing(), Nothing()}), repr(Nothing())[-9:]) == (True, 1, "Nothing()")


def test_the_first_value_of_a_class_may_be_one_of_a_subclass() -> None:
    """What makes values is compiled for the class with the fields, whoever is first, of threads too."""

    @values.dataclass(frozen=True, slots=True)
    class Base:
        left: int

    class Sub(Base):
        pass

    first = Base.__init__
    assert Sub(1).left == 1
    assert Base.__init__ is not first
    assert Base.__init__ is Sub.__init__
    late = object.__new__(Base)
    first(late, 2)  # as a thread does that asked before another one had it compiled
    assert late == Base(2)
    with pytest.raises(TypeError, match=r"__init__\(\) missing 1 required positional argument: 'left'"):
        Base()
