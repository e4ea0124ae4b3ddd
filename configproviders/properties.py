r"""``.properties`` text to ``dict`` and back, as ``java.util.Properties`` reads and writes it.

A text is cut in three steps, and the order matters:

1. Natural lines end at LF, CR or CRLF, and nowhere else. A line whose last backslashes are odd in
   number goes on in the next one, whose leading blanks are dropped. A blank is a space, a tab or a
   form feed. ``#`` and ``!`` start a comment only where a logical line would start.
2. A logical line is cut at its first unescaped ``=``, ``:`` or blank.
3. Escapes are decoded in key and value apart, so ``a\u003db=1`` has the key ``a=b``.

The last of two equal keys wins. A byte order mark is data, as in Java.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from .errors import MalformedText

_BLANKS = " \t\f"
_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
_KEY_AND_SEPARATOR = re.compile(
    r"([^\\=: \t\f]*(?:\\.[^\\=: \t\f]*)*)[ \t\f]*[=:]?[ \t\f]*", re.DOTALL
)
# A whole line of a text without backslashes, in which no line goes on and nothing is escaped.
_PLAIN_LINE = re.compile(
    r"[ \t\f]*(?:[#!][^\r\n]*|([^=: \t\f\r\n]*)[ \t\f]*([=:]?)[ \t\f]*([^\r\n]*))(?:\r\n|\r|\n|\Z)"
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNESCAPED = {"t": "\t", "r": "\r", "n": "\n", "f": "\f"}
_ESCAPED_VALUE = str.maketrans(
    {
        "\\": r"\\",
        "\t": r"\t",
        "\n": r"\n",
        "\r": r"\r",
        "\f": r"\f",
        "=": r"\=",
        ":": r"\:",
        "#": r"\#",
        "!": r"\!",
    }
)
_ESCAPED_KEY = {**_ESCAPED_VALUE, ord(" "): "\\ "}


def loads(text: str) -> dict[str, str]:
    r"""Read *text* as ``Properties.load(Reader)`` does.

    Raises :class:`MalformedText` with the line number for a ``\u`` without four hex digits.
    """
    if "\\" not in text:
        # The same as below, at a tenth of the time.
        lines = _PLAIN_LINE.findall(text)
        return {key: value for key, separator, value in lines if key or separator or value}
    properties = {}
    for number, line in _logical_lines(text):
        cut = _KEY_AND_SEPARATOR.match(line)
        if cut is None:  # The pattern matches the empty text, so it matches everywhere.
            continue
        key = _unescape(cut[1], number)
        properties[key] = _unescape(line[cut.end() :], number)
    return properties


def dumps(properties: Mapping[str, str]) -> str:
    """Write *properties* as ``Properties.store(Writer)`` does, in the order of the mapping.

    Each pair is one line that ends in LF; the line with the date is left out. Characters beyond
    ASCII stand as they are.
    """
    return "".join(
        f"{key.translate(_ESCAPED_KEY)}={_escape_value(value)}\n"
        for key, value in properties.items()
    )


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield each logical line, escapes and all, with the number of its first natural line."""
    logical, first = "", 1
    for number, natural in enumerate(_LINE.finditer(text), start=1):
        line = natural[1].lstrip(_BLANKS)
        if not logical:
            if not line or line[0] in "#!":
                continue
            first = number
        if _goes_on(line):
            logical += line[:-1]
            if _text_ends_at(natural, text):
                yield first, logical
                return
        elif logical or line:
            yield first, logical + line
            logical = ""


def _goes_on(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _text_ends_at(natural: re.Match[str], text: str) -> bool:
    # Java counts the LF of a CRLF as one more character to read, so after it the text goes on.
    return natural.end() == len(text) and natural[2] != "\r\n"


def _unescape(text: str, number: int) -> str:
    if "\\" not in text:
        return text

    def character(escape: re.Match[str]) -> str:
        if escape[1]:
            return chr(int(escape[1], 16))
        if escape[2] == "u":
            raise MalformedText(f"line {number}: \\u is not followed by four hex digits")
        return _UNESCAPED.get(escape[2], escape[2])

    unescaped = _ESCAPE.sub(character, text)
    if not _SURROGATE.search(unescaped):
        return unescaped
    # Two escapes make one character beyond the basic plane; a lone surrogate stays.
    return unescaped.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _escape_value(value: str) -> str:
    escaped = value.translate(_ESCAPED_VALUE)
    return f"\\{escaped}" if escaped.startswith(" ") else escaped
