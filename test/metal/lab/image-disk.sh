#!/bin/sh
# Makes the disk of the small system: GPT, an EFI partition with the signed shim and GRUB, GRUB for BIOS firmware, and the root.
# Arguments: root, image.
# Started in the root of the tools.
set -eu
root=$1
image=$2
parts=$(mktemp -d)

signed=$root/usr/lib/grub/x86_64-efi-signed
mkdir "$parts/signed"
cp "$signed/grubx64.efi.signed" "$root/usr/lib/shim/shimx64.efi.signed" "$parts/signed"
# What is on the EFI partition need not be in the root a second time.
rm -rf "$signed" "$root/usr/lib/shim"
truncate -s "$(($(du -sm "$root" | cut -f1) + 45))M" "$image"
sgdisk --set-alignment=1 --new=3:34:2047 --typecode=3:ef02 "$image" >/dev/null
sgdisk --new=1:2048:+16M --typecode=1:ef00 --new=2:0:0 --typecode=2:8300 "$image" >/dev/null
first() { sgdisk --info="$1" "$image" | awk '/First sector/ { print $3 }'; }
sectors() { sgdisk --info="$1" "$image" | awk '/Partition size/ { print $3 }'; }

truncate -s "$(($(sectors 1) * 512))" "$parts/efi"
mkfs.vfat -n EFI "$parts/efi" >/dev/null
mmd -i "$parts/efi" ::/EFI ::/EFI/BOOT ::/EFI/debian
printf 'search --no-floppy --label system --set=root\nconfigfile ($root)/boot/grub/grub.cfg\n' >"$parts/grub.cfg"
mcopy -i "$parts/efi" "$parts/signed/shimx64.efi.signed" ::/EFI/BOOT/BOOTX64.EFI
for folder in BOOT debian; do
  mcopy -i "$parts/efi" "$parts/signed/grubx64.efi.signed" "::/EFI/$folder/grubx64.efi"
  mcopy -i "$parts/efi" "$parts/grub.cfg" "::/EFI/$folder/grub.cfg"
done
truncate -s "$(($(sectors 2) * 512))" "$parts/root"
mkfs.ext4 -q -F -m 0 -L system -O ^has_journal -d "$root" "$parts/root"

dd if="$parts/efi" of="$image" bs=512 seek="$(first 1)" conv=notrunc status=none
dd if="$parts/root" of="$image" bs=512 seek="$(first 2)" conv=notrunc,sparse status=none

# GRUB's first sector loads the partition without a file system, whose first sector loads the rest: each is given the sector where
# that begins (https://git.savannah.gnu.org/cgit/grub.git/tree/include/grub/i386/pc/boot.h). It is what grub-install writes.
modules='biosdisk part_gpt ext2 normal linux boot search search_label configfile serial terminal'
grub-mkimage --format=i386-pc --prefix='(,gpt2)/boot/grub' --output="$parts/core.img" $modules
put() { printf "$1" | dd of="$2" bs=1 seek="$3" conv=notrunc status=none; }
cp /usr/lib/grub/i386-pc/boot.img "$parts/boot.img"
put '\042\0\0\0\0\0\0\0' "$parts/boot.img" 92
put '\043\0\0\0\0\0\0\0' "$parts/core.img" 500
dd if="$parts/boot.img" of="$image" bs=440 count=1 conv=notrunc status=none
dd if="$parts/core.img" of="$image" bs=512 seek=34 conv=notrunc status=none
rm -r "$parts"
