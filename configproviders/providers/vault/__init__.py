"""Values from HashiCorp Vault and OpenBao: ``${vault:secret/data/db:password}``.

``provider`` reads, ``mounts`` knows where a KV engine has its secrets, ``session`` keeps a token
and the leases that hang on it alive, ``auth`` logs in, ``client`` and ``transport`` speak HTTP.
"""

from .provider import VaultConfigProvider as VaultConfigProvider
