"""What RFC 8259 says of a text, case by case, written after its grammar.

Each case is a name, a text and a verdict. ACCEPT: it is JSON. REFUSE: it is not. TOO_DEEP: it is deeper than our
limit, which the RFC allows (section 9).
"""

from __future__ import annotations

from dataclasses import dataclass

ACCEPT, REFUSE, TOO_DEEP = "accept", "refuse", "too deep"
DEPTH_LIMIT = 64
"""Limits.jsonDepth"""


@dataclass(frozen=True)
class Case:
    name: str
    text: bytes
    verdict: str

    def __str__(self) -> str:
        return self.name


def _cases(verdict: str, group: str, texts: dict[str, str | bytes]) -> list[Case]:
    return [
        Case(f"{group}: {name}", text if isinstance(text, bytes) else text.encode(), verdict)
        for name, text in texts.items()
    ]


def _quoted(texts: dict[str, str | bytes]) -> dict[str, str | bytes]:
    return {
        name: b'"' + text + b'"' if isinstance(text, bytes) else '"' + text + '"' for name, text in texts.items()
    }  # fmt: skip


# Section 2: the whole text. Section 3: values.
STRUCTURE = _cases(ACCEPT, "value", {
    "null": "null", "true": "true", "false": "false", "number": "0", "empty string": '""', "empty array": "[]",
    "empty object": "{}", "space before": " 1", "space behind": "1 ", "all four spaces around": " \t\n\r1\r\n\t ",
    "line end behind": "[]\n", "a string alone": '"a"', "a word in an array": "[null]",
}) + _cases(REFUSE, "value", {
    "nothing": "", "a space": " ", "a line end": "\n", "word in capitals": "TRUE", "word with a capital": "Null",
    "word cut": "fals", "word too long": "nulll", "word with a space inside": "tr ue", "bare word": "undefined",
    "two values": "1 2", "two arrays": "[][]", "value and comma": "1,", "comma and value": ",1", "closed only": "]",
    "brace closed only": "}", "colon": ":", "NUL behind": "1\0", "NUL alone": "\0", "vertical tab before": "\v1",
    "form feed behind": "1\f", "no-break space before": "\u00a01", "line separator behind": "1\u2028",
    "byte order mark before": "\ufeff1", "byte order mark alone": "\ufeff", "half a byte order mark": b"\xef\xbb1",
    "comment behind": "1 // c", "comment before": "/* c */1", "hash comment": "1 # c", "assignment": "a=1",
    "markup": "<a/>", "parentheses": "(1)", "minus before a word": "-true", "single quotes": "'a'",
    "back quotes": "`a`", "UTF-16 little-endian": "[1]".encode("utf-16-le"),
    "UTF-16 big-endian": "[1]".encode("utf-16-be"), "UTF-16 with its mark": "[1]".encode("utf-16"),
    "UTF-32": "[1]".encode("utf-32-le"),
})  # fmt: skip

# Section 5
ARRAYS = _cases(ACCEPT, "array", {
    "one element": "[1]", "elements of every kind": '[null,true,false,0,"",[],{}]', "spaces": "[ 1 ,\t2\n,\r3 ]",
    "space inside": "[ ]", "nested": "[[[]],[]]", "thousand elements": "[" + ",".join(["0"] * 1000) + "]",
    "strings with brackets": '["]","[",","]',
}) + _cases(REFUSE, "array", {
    "open": "[", "open with a value": "[1", "open with a comma": "[1,", "open with a string": '["a',
    "comma last": "[1,]", "comma first": "[,1]", "comma only": "[,]", "comma twice": "[1,,2]", "no comma": "[1 2]",
    "no comma between strings": '["a""b"]', "colon for a comma": "[1:2]", "semicolon for a comma": "[1;2]",
    "closed twice": "[1]]", "closed by a brace": "[1}", "opened twice": "[[1]", "a name": '["a":1]', "dots": "[1,...]",
    "star": "[*]", "behind the end": "[1]x", "open line by line": "[\n1\n,\n1", "number cut by the end": "[1,-",
    "word cut by the end": "[tru", "value in the wrong place": "1[]", "escaped space": "[\\n1]",
})  # fmt: skip

# Section 4
OBJECTS = _cases(ACCEPT, "object", {
    "one member": '{"a":1}', "empty name": '{"":0}', "space inside": "{ }", "spaces": '{ "a"\t:\n1\r, "b" : 2 }',
    "name repeated": '{"a":1,"a":2}', "name and value repeated": '{"a":1,"a":1}',
    "name in escapes": r'{"\u0061\n\"":1}', "name with NUL in an escape": r'{"a\u0000b":1}',
    "nested": '{"a":{"b":{"c":[]}}}', "many members": "{" + ",".join(f'"{i}":{i}' for i in range(200)) + "}",
    "name as a value": '{"true":true,"null":null}', "name not in ASCII": '{"é音🎸":1}',
    "long name": '{"' + "x" * 2000 + '":1}',
}) + _cases(REFUSE, "object", {
    "open": "{", "open with a name": '{"a"', "open with a colon": '{"a":', "open with a value": '{"a":1',
    "open with a comma": '{"a":1,', "comma last": '{"a":1,}', "commas last": '{"a":1,,}', "comma first": '{,"a":1}',
    "comma only": "{,}", "comma twice": '{"a":1,,"b":2}', "no comma": '{"a":1 "b":2}', "no colon": '{"a" 1}',
    "colon twice": '{"a"::1}', "comma for a colon": '{"a",1}', "equals sign for a colon": '{"a"=1}',
    "arrow for a colon": '{"a"=>1}', "name bare": "{a:1}", "name in single quotes": "{'a':1}", "name a number": "{1:1}",
    "name a word": "{null:1}", "name an array": "{[]:1}", "no name": "{:1}", "no value": '{"a":}',
    "no value before a comma": '{"a":,"b":1}', "value only": "{1}", "string only": '{"a"}',
    "closed by a bracket": '{"a":1]', "closed twice": '{"a":1}}', "comment inside": '{"a":/**/1}',
    "behind the end": '{"a":1}#', "second object": '{"a":1}{"b":2}', "brace as a name": '{{"a":1}:2}',
    "name not UTF-8": b'{"\xe9":1}', "name not closed": '{"a:1}', "semicolon for a comma": '{"a":1;"b":2}',
})  # fmt: skip

# Section 6
NUMBERS = _cases(ACCEPT, "number", {
    "zero": "0", "minus zero": "-0", "one digit": "7", "digits": "1234567890", "minus": "-12", "fraction": "0.5",
    "zero fraction": "1.0", "minus zero fraction": "-0.0", "long fraction": "0." + "0" * 70 + "1", "exponent": "1e5",
    "exponent in capitals": "1E5", "exponent plus": "1e+5", "exponent minus": "1e-5", "exponent capital plus": "1E+5",
    "exponent with leading zeros": "1e007", "zero with exponent": "0e1", "zero with exponent plus": "0e+1",
    "fraction and exponent": "123.456e78", "all of it": "-12.34E-56", "over a double": "1e400",
    "under a double": "1e-400", "minus over a double": "-1e9999", "huge exponent": "0.4e" + "0" * 20 + "6699999999999",
    "over 64 bits": "18446744073709551616", "under 64 bits": "-9223372036854775809", "two hundred digits": "9" * 200,
    "in an array, then a bracket": "[1e1]", "space behind": "[4 ]",
    "more than a double holds": "0.1000000000000000055511151231257827",
}) + _cases(REFUSE, "number", {
    "leading zero": "01", "leading zeros": "[007]", "minus leading zero": "-01", "two zeros": "00", "minus alone": "-",
    "minus twice": "--1", "plus": "+1", "plus and minus": "+-1", "minus space": "- 1", "point first": ".5",
    "minus point first": "-.5", "point last": "5.", "minus point last": "[-5.]", "point before exponent": "5.e1",
    "point alone": ".", "two points": "1..2", "two fractions": "1.2.3", "exponent empty": "1e",
    "exponent empty plus": "1e+", "exponent empty minus": "1E-", "exponent first": "e1", "exponent twice": "1e1e1",
    "exponent with a fraction": "1e1.5", "exponent with two signs": "1e+-1", "zero exponent empty": "0e",
    "hexadecimal": "0x1F", "hexadecimal digits": "[1F]", "octal": "0o17", "binary": "0b1", "underscore": "1_000",
    "thousands comma": "1,000", "infinity": "Infinity", "minus infinity": "-Infinity", "inf": "inf",
    "not a number": "NaN", "minus not a number": "-NaN", "letter behind": "1a", "letter behind in an array": "[1a]",
    "suffix": "1L", "percent": "1%", "Arabic digits": "١٢", "full-width digit": "１", "full-width digit behind": "[1１]",
    "minus sign of typography": "−1", "space between digits": "1 000", "fraction of letters": "1.a",
    "byte behind": b"1\xff", "exponent byte": b"1e\xe5", "star": "2*3", "quote behind": '1"',
})  # fmt: skip

# Section 7
ESCAPES = _cases(ACCEPT, "string", _quoted({
    "every short escape": r"\"\\\/\b\f\n\r\t", "unicode escape": r"\u0041", "hex digits in capitals": r"\u00E9",
    "hex digits mixed": r"\u00eF", "NUL in an escape": r"\u0000", "control in an escape": r"\u001f",
    "DEL in an escape": r"\u007F", "quote in an escape": r"\u0022", "backslash in an escape": r"\u005C",
    "byte order mark in an escape": r"\uFEFF", "noncharacter in an escape": r"\uFFFF", "noncharacter FDD0": r"\uFDD0",
    "line separator in an escape": r"\u2028", "surrogate pair": r"\uD83C\uDFB8",
    "surrogate pair mixed case": r"\ud83C\uDfb8", "first surrogate pair": r"\uD800\uDC00",
    "last surrogate pair": r"\uDBFF\uDFFF", "two surrogate pairs": r"\uD83C\uDFB8\uD83D\uDE00",
    "escaped backslash, then u": r"\\u0041", "escaped backslash, then n": r"\\n", "two escaped backslashes": r"\\\\",
    "escape at the start": r"\nabc", "escape at the end": r"abc\n", "slash bare": "a/b",
    "escape before raw UTF-8": r"\u00e9" + "é",
})) + _cases(ACCEPT, "lone surrogate", _quoted({
    "first half": r"\uD800", "second half": r"\uDC00", "halves the wrong way": r"\uDC00\uD800",
    "first half twice": r"\uD800\uD800", "first half, then a letter": r"\uD800x",
    "first half, then an escape": r"\uD800\n", "first half, then another character": r"\uD800\u0041",
    "first half, then a whole pair": r"\uD800\uD83C\uDFB8", "a whole pair, then second half": r"\uD83C\uDFB8\uDFB8",
    "first half, then a backslash": r"\uD800\\", "last of the first": r"\uDBFF", "last of the second": r"\uDFFF",
    "first half, then raw UTF-8": r"\uD800" + "é",
})) + _cases(REFUSE, "string", {
    "open": '"', "open with a letter": '"a', "open after an escape": '"\\n', "open by an escaped quote": '"\\"',
    "open by a backslash": '"\\', "open in a unicode escape": '"\\u00', "closed within a unicode escape": r'"\u00"',
    "three hex digits": r'"\u004"', "no hex digit": r'"\u"', "hex digit that is none": r'"\u00g0"',
    "hex digit with a sign": r'"\u+041"', "hex digits with 0x": r'"\u0x41"', "hex digits with a space": r'"\u 041"',
    "capital U": r'"\U0041"', "braces": r'"\u{41}"', "hex escape of C": r'"\x41"', "octal escape": r'"\101"',
    "NUL escape": r'"\0"', "alert escape": r'"\a"', "vertical tab escape": r'"\v"', "escape of C": r'"\e"',
    "single quote escaped": "\"\\'\"", "escaped letter": r'"\q"', "escaped digit": r'"\1"',
    "escaped line end": '"a\\\nb"', "escaped control": '"\\\t"', "escaped UTF-8": '"\\é"', "pair cut": r'"\uD83C\uDF"',
    "pair with a bad half": r'"\uD83C\uXXXX"', "pair cut by the end": r'"\uD83C\u', "pair without u": r'"\uD83C\D"',
    "full-width hex digits": '"\\u００４１"', "bare": "a", "closed twice": '"a""', "letter behind": '"a"b',
    "two strings": '"a" "b"', "tab": '"a\tb"', "line feed": '"a\nb"', "carriage return": '"a\rb"', "NUL": '"a\0b"',
    "backspace": '"\b"', "unit separator": '"\x1f"', "escape character": '"\x1b[2J"', "in an array, open": '["a]',
    "escape in an array, open": '["a\\"]',
})  # fmt: skip

# Section 8.1: UTF-8 and nothing else
UTF8 = _cases(ACCEPT, "UTF-8", _quoted({
    "two bytes": "é", "three bytes": "音", "four bytes": "🎸", "DEL": "\x7f", "C1 control": "\x80\x9f",
    "first of two bytes": "\x80", "last of two bytes": "\u07ff", "first of three bytes": "\u0800",
    "before the surrogates": "\ud7ff", "behind the surrogates": "\ue000", "last of three bytes": "\uffff",
    "first of four bytes": "\U00010000", "last": "\U0010ffff", "byte order mark inside": "\ufeff",
    "replacement character": "\ufffd", "line separators": "\u2028\u2029", "no-break space": "\xa0",
    "combining": "e\u0301", "direction": "\u202e", "private use": "\ue000\U000f0000",
    "noncharacters": "\ufdd0\ufffe\U0001fffe",
})) + _cases(REFUSE, "invalid UTF-8", _quoted({
    "continuation alone": b"\x80", "continuations": b"\x80\xbf\x80", "Latin-1": b"caf\xe9", "two bytes cut": b"\xc3",
    "two bytes cut by a letter": b"\xc3a", "three bytes cut": b"\xe9\x9f", "three bytes cut by a letter": b"\xe9\x9fa",
    "four bytes cut": b"\xf0\x9f\x8e", "overlong NUL": b"\xc0\x80", "overlong slash": b"\xc0\xaf",
    "overlong DEL": b"\xc1\xbf", "overlong quote": b"\xc0\xa2", "overlong of three bytes": b"\xe0\x9f\xbf",
    "overlong slash of three bytes": b"\xe0\x80\xaf", "overlong of four bytes": b"\xf0\x8f\xbf\xbf",
    "overlong slash of four bytes": b"\xf0\x80\x80\xaf", "five bytes": b"\xf8\x88\x80\x80\x80",
    "six bytes": b"\xfc\x84\x80\x80\x80\x80", "surrogate": b"\xed\xa0\x80", "last surrogate": b"\xed\xbf\xbf",
    "surrogate pair (CESU-8)": b"\xed\xa0\xbc\xed\xbe\xb8", "above the last": b"\xf4\x90\x80\x80",
    "F5": b"\xf5\x80\x80\x80", "FE": b"\xfe", "FF": b"\xff", "cut, then an escape": b"\xf0\\u0041",
    "cut, then continued in an escape": b"\xc3\\u00a9", "behind good text": "音🎸".encode() + b"\xff",
    "before good text": b"\xff" + "音".encode(),
})) + _cases(REFUSE, "invalid UTF-8", {
    "outside of a string": b"[\xff]", "as a space": b"[1\xc2\xa0]", "in a number": b"[12\xe9]",
    "in a word": b"[nul\xec]", "behind the text": b"[]\xff", "overlong bracket": b"\xc1\x9b1]",
})  # fmt: skip


def _nested(depth: int, opening: str, closing: str, inner: str = "") -> str:
    return opening * depth + inner + closing * depth


DEPTH = _cases(ACCEPT, "depth", {
    "arrays at our limit": _nested(DEPTH_LIMIT, "[", "]"),
    "objects at our limit": _nested(DEPTH_LIMIT, '{"a":', "}", "1"),
    "both at our limit": _nested(DEPTH_LIMIT // 2, '[{"a":', "}]", "null"),
    "the limit twice beside each other": f"[{_nested(DEPTH_LIMIT - 1, '[', ']')},{_nested(DEPTH_LIMIT - 1, '[', ']')}]",
}) + _cases(TOO_DEEP, "depth", {
    "arrays over our limit": _nested(DEPTH_LIMIT + 1, "[", "]"),
    "objects over our limit": _nested(DEPTH_LIMIT + 1, '{"a":', "}", "1"), "500 arrays": _nested(500, "[", "]"),
    "500 objects": _nested(500, '{"a":', "}", "{}"), "100,000 arrays": _nested(100_000, "[", "]"),
    "100,000 objects": _nested(100_000, '{"":', "}", "0"), "100,000 opening brackets": "[" * 100_000,
    "100,000 opening braces": '{"":' * 100_000, "100,000 opening brackets and braces": '[{"":' * 50_000,
    "100,000 opening brackets and spaces": "[ \n" * 100_000,
}) + _cases(REFUSE, "depth", {
    "100,000 closing brackets": "]" * 100_000, "100,000 opening braces without names": "{" * 100_000,
    "one closing bracket too few": "[" * DEPTH_LIMIT + "]" * (DEPTH_LIMIT - 1),
    "one closing bracket too many": "[" * DEPTH_LIMIT + "]" * (DEPTH_LIMIT + 1),
    "64 opening brackets": "[" * DEPTH_LIMIT,
})  # fmt: skip

CASES = STRUCTURE + ARRAYS + OBJECTS + NUMBERS + ESCAPES + UTF8 + DEPTH
