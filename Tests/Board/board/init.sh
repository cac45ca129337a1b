#!/bin/busybox sh
# The first process of a guest: mounts, modules, network; then the job.
/bin/busybox mkdir -p /usr/bin /sbin /usr/sbin
/bin/busybox --install -s
export PATH=/bin:/sbin:/usr/bin:/usr/sbin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
for module in $(cat /modules/order); do insmod /modules/$module; done
ip link set lo up
ip link set eth0 up && ip addr add 10.0.2.15/24 dev eth0 && ip route add default via 10.0.2.2

# A result for the host. The kernel's messages would split it; dmesg has them.
echo 1 >/proc/sys/kernel/printk
say() { echo "@@ $*"; }

. /job.sh
say done
sync
poweroff -f
