"""Resolves a config from a properties file, a YAML file, a directory and the environment."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from configproviders import ConfigTransformer, UnresolvedError, load_providers, properties

SETTINGS = """
config.providers=file, directory, env
config.providers.file.class=file
config.providers.directory.class=directory
config.providers.directory.param.strip.trailing.newline=true
config.providers.env.class=env
config.providers.env.param.allowlist.pattern=APP_.*
"""


def main() -> None:
    """Write some secrets, resolve a config that refers to them, and show what goes wrong."""
    os.environ["APP_REGION"] = "eu-west-1"
    with tempfile.TemporaryDirectory() as secrets:
        Path(secrets, "db.properties").write_text("user=orders\npassword=p\\u00e4ss\n")
        Path(secrets, "cache.yaml").write_text("cache:\n  password: 0123\n")
        Path(secrets, "tls").mkdir()
        Path(secrets, "tls", "key.pem").write_text("-----BEGIN KEY-----\n")
        providers = load_providers(properties.loads(SETTINGS))
        transformer = ConfigTransformer(providers)

        result = transformer.transform(
            {
                "url": f"jdbc:x://$<file:{secrets}/db.properties:user>@${{env:APP_REGION}}/orders",
                "password": f"${{file:{secrets}/db.properties:password}}",
                "cache.password": f"${{file:{secrets}/cache.yaml:cache.password}}",
                "tls.key": f"${{directory:{secrets}/tls:key.pem}}",
                "left.alone": "${topic} and $1",
            }
        )
        for key, value in result.data.items():
            print(f"{key} = {value}")

        try:
            transformer.transform({"a": f"${{file:{secrets}/db.properties:pasword}}"}, strict=True)
        except UnresolvedError as error:
            print(str(error).replace(secrets, "/run/secrets"))


if __name__ == "__main__":
    main()
