#!/bin/sh
# Turns a fresh Debian root into the small system that is deployed: cloud-init reads the config drive, and a unit states on the
# serial console what user data has written. Started by mmdebstrap with the root as its argument.
set -eu
root=$1

mkdir -p "$root/etc/cloud/cloud.cfg.d" "$root/boot/efi"
cat >"$root/etc/cloud/cloud.cfg.d/90-deployed.cfg" <<'CFG'
datasource_list: [ ConfigDrive, None ]
system_info: { network: { renderers: [ networkd ] } }
# What an emulated processor takes long for and no test reads: further stages, other keys of the host, locales.
ssh_genkeytypes: [ ed25519 ]
cloud_init_modules: [ write-files, set_hostname, update_hostname, users-groups, ssh ]
CFG
cat >"$root/usr/local/bin/deployed" <<'PROGRAM'
#!/bin/sh
firmware=bios
[ -d /sys/firmware/efi ] && firmware=uefi
echo "deployed system started: hostname $(hostname), firmware $firmware, marker $(cat /etc/marker 2>/dev/null || echo none)"
PROGRAM
chmod 755 "$root/usr/local/bin/deployed"
cat >"$root/etc/systemd/system/deployed.service" <<'UNIT'
[Unit]
Description=States on the console that the deployed system has started
After=cloud-init.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/local/bin/deployed
StandardOutput=journal+console

[Install]
WantedBy=multi-user.target
UNIT
printf 'LABEL=system / ext4 defaults 0 1\n' >"$root/etc/fstab"
echo image >"$root/etc/hostname"
chroot "$root" systemctl --quiet enable systemd-networkd.service deployed.service
chroot "$root" systemctl --quiet mask systemd-networkd-wait-online.service apt-daily.timer apt-daily-upgrade.timer \
  cloud-config.service cloud-final.service
# Only what a virtual machine has: every driver less is a second less of emulated time.
for kernel in "$root"/lib/modules/*; do
  for folder in drivers/infiniband drivers/net/ethernet drivers/md drivers/target drivers/comedi drivers/hid fs/btrfs fs/xfs fs/ocfs2 fs/ceph \
    fs/smb fs/cifs fs/nfs fs/nfsd net/sctp net/ceph net/tipc net/netfilter net/sunrpc net/bridge net/sched net/openvswitch arch/x86/kvm; do
    rm -rf "$kernel/kernel/$folder"
  done
  chroot "$root" depmod "$(basename "$kernel")"
  chroot "$root" update-initramfs -u -k "$(basename "$kernel")" >/dev/null
done
# What nothing of the running system reads: Perl, GRUB's own programs and modules, tables of hardware and of character sets.
rm -rf "$root"/usr/share/perl "$root"/usr/lib/*/perl "$root"/usr/lib/*/libperl.so* "$root"/usr/bin/perl* "$root"/usr/bin/grub-* \
  "$root"/usr/lib/udev/hwdb.bin "$root"/usr/lib/udev/hwdb.d "$root"/usr/lib/python3.11/pydoc_data "$root"/usr/lib/grub/*-efi "$root"/usr/share/grub "$root"/usr/share/i18n \
  "$root"/usr/lib/*/gconv "$root"/usr/share/unicode "$root"/usr/share/zoneinfo/right "$root"/usr/share/zoneinfo/posix
kernel=$(basename "$root"/boot/vmlinuz-*)
mkdir -p "$root/boot/grub"
cat >"$root/boot/grub/grub.cfg" <<CFG
set timeout=0
search --no-floppy --label system --set=root
linux /boot/$kernel root=LABEL=system ro console=ttyS0,115200 net.ifnames=0 mitigations=off no_timer_check quiet
initrd /boot/initrd.img-${kernel#vmlinuz-}
boot
CFG
: >"$root/etc/machine-id"
rm -rf "$root"/etc/ssh/ssh_host_* "$root"/var/lib/apt/lists/* "$root"/var/cache/* "$root"/var/log/* "$root"/usr/share/locale/*
