"""What a reference to AWS says besides the name: options, and whether the whole text is meant.

Options stand behind the name or behind the key, as csid and MSK write them; the path in canonical
form has all of them: ``db?stage=AWSPENDING&ttl=5000``. The key of the whole text is empty, as a
JSON pointer to a whole document is.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...path_options import merged, split_any_options, split_options, ttl_of, with_options

WHOLE = ""
"""The key of the whole text of a secret."""


def canonical(name: str, key: str | None, options: Mapping[str, str]) -> tuple[str, str]:
    """Return the path and key for what was typed as *name* and *key*, ``None`` for the whole.

    *options* maps each option that is known, and each other word for it, to its name.
    """
    name, given = split_options(name, options)
    key, more = _key_options(key, options)
    taken = merged(given, more, name, options)
    ttl_of(taken)
    return with_options(name, taken), WHOLE if key is None else key


def _key_options(key: str | None, options: Mapping[str, str]) -> tuple[str | None, dict[str, str]]:
    """Return *key* without its options; a question mark before anything else belongs to it."""
    if key is None or not split_any_options(key)[1].keys() <= options.keys():
        return key, {}
    return split_options(key, options)
