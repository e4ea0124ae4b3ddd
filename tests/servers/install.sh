#!/usr/bin/env bash
# Installs the servers that the tests start, and a browser, from Debian, where they are missing, and
# fetches Java archives from Maven Central. It starts none of them as a service. With all of them
# there it does nothing, and takes no time.
set -euo pipefail
cd "$(dirname "$0")"

policy=/usr/sbin/policy-rc.d

has() { # A program in PATH, or where Debian puts what is not for PATH.
  PATH="$PATH:/usr/sbin" command -v "$1" >/dev/null ||
    compgen -G "/usr/lib/postgresql/*/bin/$1" >/dev/null
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

give_up() {
  echo "The tests need: ${missing[*]}. $1" >&2
  exit 1
}

install_without_services() {
  if [ ! -e "$policy" ]; then # What a package asks before it starts its service.
    trap 'as_root rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
    as_root chmod +x "$policy"
  fi
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -qq --yes --no-install-recommends "${missing[@]}" >/dev/null
  if [ -d /run/systemd/system ]; then
    for service in postgresql slapd; do # Not those that were there before.
      if [[ " ${missing[*]} " == *" $service "* ]]; then as_root systemctl disable --quiet "$service"; fi
    done
  fi
}

missing=()
if ! { has initdb && has postgres; }; then missing+=(postgresql); fi
if ! { has slapd && has slapadd; }; then missing+=(slapd); fi
if ! { has chromium && has chromedriver; }; then missing+=(chromium chromium-driver); fi
if ! has curl; then missing+=(curl); fi # An example shows what it asks the worker.

if [ ${#missing[@]} -gt 0 ]; then
  command -v apt-get >/dev/null || give_up "Install them: there is no apt-get here to do it."
  [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null ||
    give_up "Run this as root, or install them yourself: there is no sudo here."
  echo "Installing ${missing[*]}" >&2
  install_without_services
fi

# What Spark and the benchmarks load.
(cd .. && "${PYTHON:-python3}" -m servers.jars)

# The Vault server.
./build-vault.sh
