#!/usr/bin/env bash
# Put Debian 12's kubectl (1.20) into a folder of its own, beside whatever is installed; print its path.
set -euo pipefail
folder="$(realpath "$1")/kubectl-1.20"
program="$folder/usr/bin/kubectl"
if [ ! -x "$program" ]; then
  mkdir -p "$folder"
  cd "$folder"
  apt-get download kubernetes-client >&2 || { apt-get update -qq >&2; apt-get download kubernetes-client >&2; }
  dpkg -x kubernetes-client_*.deb .
fi
echo "$program"
