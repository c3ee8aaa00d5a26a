#!/bin/sh
# Turns a fresh Debian root into the ramdisk. Started by mmdebstrap, with the root as its argument, before the root is thrown away.
# AGENT is the folder of the agent's unpacked wheels, OUT the folder for kernel, initramfs and the list of what is inside.
set -eu
root=$1
recipe=$(cd "$(dirname "$0")" && pwd)

put() { install -D -m "$1" "$recipe/files/$2" "$root$3"; }
put 755 ironic-python-agent /usr/local/bin/ironic-python-agent
put 755 ramdisk-started /usr/local/bin/ramdisk-started
put 755 open-rescue /usr/local/bin/open-rescue
put 644 ethernet.network /etc/systemd/network/80-ethernet.network
for unit in ironic-python-agent.service ramdisk-started.service rescue.path rescue.service; do
  put 644 "$unit" "/etc/systemd/system/$unit"
done
mkdir -p "$root/etc/ironic-python-agent.d" "$root/etc/ironic-python-agent" "$root/etc/ipa-rescue-config"
put 644 agent.conf /etc/ironic-python-agent.d/ramdisk.conf

mkdir -p "$root/opt/ironic-python-agent"
cp -R "$AGENT/." "$root/opt/ironic-python-agent/"
rm -rf "$root"/opt/ironic-python-agent/*/tests "$root/opt/ironic-python-agent/bin"
# Compiled files that are checked by no time stamp: a start from memory is quicker, and every build has the same bytes.
chroot "$root" python3 -m compileall -q -j 0 --invalidation-mode unchecked-hash /opt/ironic-python-agent

chroot "$root" systemctl --quiet enable systemd-networkd.service systemd-resolved.service ramdisk-started.service \
  ironic-python-agent.service rescue.path
chroot "$root" systemctl --quiet disable ssh.service
chroot "$root" systemctl --quiet mask systemd-networkd-wait-online.service lvm2-monitor.service mdmonitor.service \
  smartmontools.service apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer fstrim.timer \
  getty@tty1.service serial-getty@ttyS0.service
echo ramdisk >"$root/etc/hostname"
printf '127.0.0.1 localhost ramdisk\n' >"$root/etc/hosts"
ln -sf /run/systemd/resolve/stub-resolv.conf "$root/etc/resolv.conf"
# A machine's own, made as it starts.
: >"$root/etc/machine-id"
rm -f "$root"/etc/ssh/ssh_host_* "$root/var/lib/dbus/machine-id" "$root/var/lib/systemd/random-seed" \
  "$root/etc/nvme/hostid" "$root/etc/nvme/hostnqn"

cp "$root"/boot/vmlinuz-* "$OUT/ramdisk.kernel"
rm -rf "$root"/boot/* "$root/initrd.img" "$root/vmlinuz" "$root"/initrd.img.old "$root"/vmlinuz.old
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/* "$root"/var/log/* "$root"/tmp/* "$root"/var/tmp/* "$root"/run/* \
  "$root"/var/lib/dpkg/*-old "$root"/etc/*- "$root"/usr/share/doc/* "$root"/usr/share/locale/* "$root"/etc/apt/sources.list*
find "$root/usr/lib/python3" "$root/usr/lib/python3.11" -name __pycache__ -prune -exec rm -rf {} +
chroot "$root" python3 -m compileall -q -j 0 --invalidation-mode unchecked-hash /usr/lib/python3.11 /usr/lib/python3 || true
ln -sf /lib/systemd/systemd "$root/init"

# What the kernel's file systems are mounted on is packed from a folder of its own: in the root they are mounted now.
mounts=$OUT/mounts
mkdir -p "$mounts/dev" "$mounts/proc" "$mounts/sys"
own() { find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev \) -prune -o "$@"; }
pack() { LC_ALL=C sort | cpio --create --format newc --reproducible --quiet; }
cd "$root"
own -newermt "@$SOURCE_DATE_EPOCH" -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} +
find "$mounts" -exec touch --date "@$SOURCE_DATE_EPOCH" {} +
{
  own -print | pack
  cd "$mounts" && find . -mindepth 1 | pack
} | zstd -q -T2 -10 -o "$OUT/ramdisk.initramfs"
cd "$root"
own -type f -print | LC_ALL=C sort >"$OUT/files"
rm -r "$mounts"
