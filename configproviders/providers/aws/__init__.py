"""AWS: Secrets Manager, ``${sm:name:key}``, and the Parameter Store of SSM, ``${ssm::/a/name}``."""

from __future__ import annotations

from .secrets_manager import SecretsManagerConfigProvider
from .ssm import SsmConfigProvider

__all__ = ["SecretsManagerConfigProvider", "SsmConfigProvider"]
