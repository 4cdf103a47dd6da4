#!/bin/bash
# Unpacks (does not install) the Debian packages that the FRR router nodes need into the lab's cache folder, and builds
# the router from them. apt-get install of the same set would upgrade half the system; dpkg -x leaves it alone.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
router="${LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gns3-lab}/router"
mkdir -p "$router/debs" "$router/root"
cd "$router/debs"
apt-get download frr ipxe-qemu libaio1 libbrlapi0.8 libcacard0 libcapstone4 libdaxctl1 libepoxy0 libexecs0 libfdt1 \
  libfuse3-3 libgstreamer-plugins-base1.0-0 libibverbs1 libndctl6 libnl-route-3-200 libopus0 liborc-0.4-0 libpmem1 \
  librdmacm1 libslirp0 libsndio7.0 libspice-server1 liburing2 libusb-1.0-0 libusbredirparser1 libvdeplug2 libyang2 \
  linux-image-cloud-amd64 qemu-system-common qemu-system-data qemu-system-x86 qemu-utils seabios
kernel="$(dpkg-deb -f linux-image-cloud-amd64_*.deb Depends | grep -o 'linux-image-[0-9][^ ,]*' | head -1)"
rm -f linux-image-cloud-amd64_*.deb
apt-get download "$kernel"
for deb in *.deb; do dpkg -x "$deb" "$router/root"; done
exec python3 "$here/mkrouter.py" --root "$router/root" --out "$router"
