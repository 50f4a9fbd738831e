#!/usr/bin/env bash
# Installs a .deb into a fresh Debian 12 and uses it: wm doctor, wm demo, wm serve, wm run -- clinfo, the Python package.
#
#   packaging/chroot_test.sh build/release/packages/warpmux_0.2.0_arm64.deb [FOLDER]
#
# Needs root, mmdebstrap and a Debian mirror. FOLDER, where it exists, is a chroot to use again.
set -euo pipefail
package=$(readlink -f "$1")
root=${2:-$(mktemp -d)/root}
[[ -d $root ]] || { mkdir -p "$(dirname "$root")" && mmdebstrap --variant=minbase bookworm "$root"; }

cleanup() { umount "$root/proc" "$root/sys" "$root/dev/shm" 2>/dev/null || true; }
trap cleanup EXIT
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
mountpoint -q "$root/sys" || mount -t sysfs -o ro sysfs "$root/sys"
mkdir -p "$root/dev/shm"
mountpoint -q "$root/dev/shm" || mount -t tmpfs tmpfs "$root/dev/shm"
cp "$package" "$root/tmp/warpmux.deb"

chroot "$root" /bin/bash -euxo pipefail -c '
  export DEBIAN_FRONTEND=noninteractive HOME=/root XDG_RUNTIME_DIR=/tmp
  apt-get -qq update
  apt-get -qq install -y --no-install-recommends /tmp/warpmux.deb pocl-opencl-icd clinfo python3 python3-numpy >/dev/null
  cat /etc/OpenCL/vendors/warpmux.icd
  test -e "$(cat /etc/OpenCL/vendors/warpmux.icd)"
  test -x "$(sed -n "s/^ExecStart=\([^ ]*\).*/\1/p" /usr/lib/systemd/user/warpmux.service)"
  cd /tmp
  wm doctor
  wm demo --cycles 5000
  test -s wm-demo.html
  wm serve & daemon=$!
  trap "kill $daemon" EXIT
  wm run -- clinfo -l
  wm run -- clinfo >clinfo.txt
  grep -c warpmux clinfo.txt
  wm status
  trap - EXIT
  kill $daemon
  wait $daemon
  python3 -c "import warpmux; print(warpmux.simulate(\"fma:size=small\", cycles=1000))"
  bash -n /usr/share/bash-completion/completions/wm
'
echo "the package works in a clean Debian 12"
