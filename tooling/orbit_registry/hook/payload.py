"""Reads and writes JSON without the library's own package, whose import costs more than a call; it knows no payload."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    JsonValue = str | bool | Mapping[str, "JsonValue"]

    def quoted(text: str) -> str:
        """Return a text as JSON, in ASCII."""

    def make_scanner(context: object) -> Callable[[str, int], tuple[object, int]]:
        """Return what reads JSON in a text from a place on, and says where it ends."""
else:
    try:
        from _json import encode_basestring_ascii as quoted
        from _json import make_scanner
    except ImportError:  # an interpreter without these insides
        from json.encoder import encode_basestring_ascii as quoted

        make_scanner = None


class _ScannerSettings:
    """How JSON is read: as everywhere, its few odd constants as numbers."""

    strict = False
    object_hook = object_pairs_hook = array_hook = None
    parse_float = parse_constant = float
    parse_int = int


def parse_json(text: str) -> object:
    """Return the value that a JSON text begins with.

    Raises:
        ValueError: there is none.
        StopIteration: it ends too early.
        RecursionError: it is nested too deeply.
    """
    text = text.lstrip("\ufeff \t\r\n")
    try:
        scan = make_scanner(_ScannerSettings)
    except (AttributeError, TypeError):  # it asks for what we do not know of: the standard library does
        from json import JSONDecoder

        scan = JSONDecoder(strict=False).raw_decode
    return scan(text, 0)[0]


def parse_embedded(value: object) -> object:
    """Return a value, or the one that stands in it as JSON in a text: some agents pass a tool's input like that."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return parse_json(value)
        except (ValueError, StopIteration, RecursionError):
            return value
    return value


def to_json(value: "JsonValue") -> str:
    """Return a text, a truth value or an object of them as JSON, in ASCII."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "{" + ", ".join(f"{quoted(key)}: {to_json(member)}" for key, member in value.items()) + "}"
