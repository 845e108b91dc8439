#!/usr/bin/env bash
# Install the Debian packages that tests or benchmarks use, where we may; say what is missing where we may not.
set -euo pipefail
case "${1:-test}" in
  test) wanted=(bwrap:bubblewrap etcd:etcd-server strace:strace) ;;
  bench) wanted=(wrk:wrk hyperfine:hyperfine bwrap:bubblewrap etcd:etcd-server) ;;
  *) echo "usage: $0 test|bench" >&2; exit 2 ;;
esac
command -v kubectl >/dev/null || wanted+=(kubectl:kubernetes-client)
missing=()
for pair in "${wanted[@]}"; do
  command -v "${pair%%:*}" >/dev/null || missing+=("${pair#*:}")
done
[ ${#missing[@]} -eq 0 ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
else
  echo "missing Debian packages (tests that need them are skipped): ${missing[*]}" >&2
fi
