#!/bin/busybox sh
# shellcheck shell=dash
# First program of the guest: loads the modules, and makes the host's own root file system the
# guest's, read-only with a layer in memory on top.  So every program and library of the host is
# there without copying.  The folder `share` is the only place that the guest can change.
/bin/busybox --install -s /bin
export PATH=/bin

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
while read -r module; do
  insmod "/modules/$module" || echo "guest: cannot load $module"
done < /modules/order

options=trans=virtio,version=9p2000.L,msize=262144
mount -t 9p -o "$options,ro,cache=loose" host /lower || echo "guest: no host root"
mount -t tmpfs upper /upper
mkdir /upper/files /upper/work
mount -t overlay -o lowerdir=/lower,upperdir=/upper/files,workdir=/upper/work root /newroot ||
  echo "guest: no overlay"
cd /newroot || exit 1
mount --move /proc proc
mount --move /sys sys
mount --move /dev dev
mkdir -p dev/pts dev/shm
mount -t devpts devpts dev/pts
mount -t tmpfs shm dev/shm
mount -t tmpfs run run
mkdir -p run/netns run/lock run/share
mount -t 9p -o "$options,rw,cache=none" share run/share || echo "guest: no share"
cp /guest_main.sh run/guest_main.sh
exec switch_root /newroot /bin/bash /run/guest_main.sh
