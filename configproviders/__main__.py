"""``python -m configproviders`` is ``resolve-config``."""

from .cli import run

run()
