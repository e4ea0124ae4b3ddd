#!/usr/bin/env bash
# Builds the Vault server of the tests from its Go module, once, into the cache folder.
# On two cores this takes about ten minutes and 10 GB of disk; with a `bao` or `vault`
# on PATH it is not needed.
set -euo pipefail
cd "$(dirname "$0")"

cache="${XDG_CACHE_HOME:-$HOME/.cache}/configproviders"
version="$(awk '$1 == "github.com/hashicorp/vault" { print $2 }' go.mod)"
server="$cache/vault-$version"

if command -v bao vault >/dev/null || [ -x "$server" ]; then exit 0; fi
if ! command -v go >/dev/null; then
  echo "No bao or vault on PATH, and no Go to build one: install one of the three" >&2
  exit 1
fi
mkdir -p "$cache"
echo "Building Vault $version; it takes about ten minutes" >&2
started=$SECONDS
GOFLAGS=-buildvcs=false go build -trimpath -ldflags '-s -w' -o "$server.part" \
  github.com/hashicorp/vault 2> >(grep -v '^go: downloading' >&2)
mv "$server.part" "$server"
echo "Built $server in $((SECONDS - started)) s" >&2
