#!/bin/sh
# Makes the disk of the small system: GPT, an EFI partition with the signed shim and GRUB, and the root. Arguments: root, image.
# Started in the root of the tools.
set -eu
root=$1
image=$2
parts=$(mktemp -d)

truncate -s "$(($(du -sm "$root" | cut -f1) + 70))M" "$image"
sgdisk --new=1:2048:+33M --typecode=1:ef00 --new=2:0:0 --typecode=2:8300 "$image" >/dev/null
first() { sgdisk --info="$1" "$image" | awk '/First sector/ { print $3 }'; }
sectors() { sgdisk --info="$1" "$image" | awk '/Partition size/ { print $3 }'; }

truncate -s "$(($(sectors 1) * 512))" "$parts/efi"
mkfs.vfat -n EFI "$parts/efi" >/dev/null
mmd -i "$parts/efi" ::/EFI ::/EFI/BOOT ::/EFI/debian
printf 'search --no-floppy --label system --set=root\nconfigfile ($root)/boot/grub/grub.cfg\n' >"$parts/grub.cfg"
mcopy -i "$parts/efi" "$root/usr/lib/shim/shimx64.efi.signed" ::/EFI/BOOT/BOOTX64.EFI
for folder in BOOT debian; do
  mcopy -i "$parts/efi" "$root/usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed" "::/EFI/$folder/grubx64.efi"
  mcopy -i "$parts/efi" "$parts/grub.cfg" "::/EFI/$folder/grub.cfg"
done
truncate -s "$(($(sectors 2) * 512))" "$parts/root"
mkfs.ext4 -q -F -m 0 -L system -O ^has_journal -d "$root" "$parts/root"

dd if="$parts/efi" of="$image" bs=512 seek="$(first 1)" conv=notrunc status=none
dd if="$parts/root" of="$image" bs=512 seek="$(first 2)" conv=notrunc,sparse status=none
rm -r "$parts"
