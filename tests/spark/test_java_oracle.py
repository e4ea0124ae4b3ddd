"""Texts made at random, and what the JVM's own classes make of them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from configproviders import ConfigException, properties
from configproviders.reference import find

pytestmark = pytest.mark.spark

TEXTS = 10_000
PROPERTIES = [
    *"ab=:#! \t\f\\\n\r",
    *["\\\n", "\\\r\n", "\\\\", "\\u0041", "\\u003d", "\\ud83d\\ude00", "\\ud83d", "\\u00"],
    *["\\uu0041", "key", "value", "ключ", "\u00a0", "\u2028", "\u0085", "\x0b", "\ufeff", "😀"],
]
REFERENCES = ["${", "${", "}", ":", ":", *"${}a \n\\'<>", "$$", "path", "${a:b}"]
ANGLES = str.maketrans("{}<>", "<>{}")

# Compiled in the JVM by the compiler that Spark brings. Texts travel as ASCII JSON, in which half
# a surrogate pair survives.
ORACLE = r"""
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.StringReader;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class Oracle {
    private static final Pattern KAFKA =
        Pattern.compile("\\$\\{([^}]*?):(([^}]*?):)?([^}]*?)\\}");

    public static String properties(String json) throws Exception {
        ObjectMapper mapper = mapper();
        String[] texts = (String[]) mapper.readValue(json, String[].class);
        List answers = new ArrayList();
        for (int i = 0; i < texts.length; i++) {
            Properties loaded = new Properties();
            try {
                loaded.load(new StringReader(texts[i]));
                StringWriter stored = new StringWriter();
                loaded.store(stored, null);
                answers.add(new Object[] {loaded, stored.toString()});
            } catch (IllegalArgumentException e) {
                answers.add(null);
            }
        }
        return mapper.writeValueAsString(answers);
    }

    public static String references(String json) throws Exception {
        ObjectMapper mapper = mapper();
        String[] texts = (String[]) mapper.readValue(json, String[].class);
        List answers = new ArrayList();
        for (int i = 0; i < texts.length; i++) {
            List found = new ArrayList();
            for (Matcher m = KAFKA.matcher(texts[i]); m.find(); ) {
                String path = m.group(3) == null ? "" : m.group(3);
                found.add(new Object[] {m.group(1), path, m.group(4), m.group(), m.start()});
            }
            answers.add(found);
        }
        return mapper.writeValueAsString(answers);
    }

    private static ObjectMapper mapper() {
        ObjectMapper mapper = new ObjectMapper();
        mapper.getFactory().enable(JsonGenerator.Feature.ESCAPE_NON_ASCII);
        return mapper;
    }
}
"""

Ask = Callable[[str, list[str]], list[Any]]


@pytest.fixture(scope="module")
def ask(jvm: Any) -> Ask:
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(ORACLE)
    methods = compiler.getClassLoader().loadClass("Oracle").getMethods()
    named = {method.getName(): method for method in methods}

    def ask(name: str, texts: list[str]) -> list[Any]:
        arguments = jvm.java.util.ArrayList()
        arguments.add(json.dumps(texts))
        return list(json.loads(named[name].invoke(None, arguments.toArray())))

    return ask


def texts_of(pieces: list[str]) -> list[str]:
    chance = random.Random(12)
    return ["".join(chance.choices(pieces, k=chance.randint(0, 16))) for _ in range(TEXTS)]


def test_properties_are_read_and_written_as_java_does(ask: Ask) -> None:
    plain = [piece for piece in PROPERTIES if "\\" not in piece]
    texts = texts_of(PROPERTIES) + texts_of(plain)
    refused = 0

    for text, answer in zip(texts, ask("properties", texts), strict=True):
        if answer is None:
            refused += 1
            with pytest.raises(ConfigException):
                properties.loads(text)
        else:
            loaded, stored = answer
            assert properties.loads(text) == loaded, text
            lines = properties.dumps(loaded).split("\n")
            assert sorted(lines) == sorted(stored.split("\n")[1:]), text  # Without the date.

    assert TEXTS / 50 < refused < TEXTS / 2


def test_references_are_found_where_kafka_s_pattern_finds_them(ask: Ask) -> None:
    texts = [text.replace("$<", "$ <") for text in texts_of(REFERENCES)]
    matches = 0

    for text, answer in zip(texts, ask("references", texts), strict=True):
        assert [list(reference) for reference in find(text)] == answer, text
        mirrored = [list(reference) for reference in find(text.translate(ANGLES))]
        expected = [[*map(mirror, parts), start] for *parts, start in answer]
        assert mirrored == expected, text
        matches += len(answer)

    assert matches > TEXTS / 3


def mirror(text: str) -> str:
    return text.translate(ANGLES)
