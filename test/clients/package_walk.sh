#!/bin/sh
# Installs the package $2, of dpkg or of RPM (the program $RPM), on a copy of this system that lies in memory at $1, and says line by line what is there then.
# Started in a mount and process namespace of its own, with which everything ends.
set -e
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
mount -t proc proc "$1/root/proc"
mount --bind /dev "$1/root/dev"
mkdir "$1/root/given"
cp "$2" "$1/root/given/temper.${2##*.}"

cat >"$1/root/given/walk" <<'WALK'
cd /
# As where nothing of it was ever installed.
rm -rf /etc/temper /usr/lib/temper /usr/bin/temper
say() { echo "$@" >&3; }
# A system of RPM has what the package depends on in a database of its own, which a copy of Debian has not.
on_rpm() { "$RPM" --dbpath /given/rpmdb "$@"; }
if [ -e /given/temper.rpm ]; then
  on_rpm --install --nodeps /given/temper.rpm && say installed
else
  dpkg -i /given/temper.deb && say installed
fi
say settings $(stat -c '%a:%U' /etc/temper/*.env | sort -u) folder $(stat -c '%a:%U:%G' /etc/temper/files)
say users $(getent passwd temper-api temper-control temper-bmc temper-boot temper-console temper-migrate temper-notifications | wc -l)
said=$(systemd-analyze verify /usr/lib/systemd/system/temper*.service /usr/lib/systemd/system/temper.target 2>&1) && say units ${said:-verified}
say help $(temper --help | head -1)

# Each process as its unit starts it, without settings: it gets as far as naming what it lacks.
for unit in /usr/lib/systemd/system/temper-*.service; do
  user=$(sed -n 's/^User=//p' "$unit")
  status=0
  setpriv --reuid "$user" --regid temper --clear-groups env -i $(sed -n 's/^ExecStart=//p' "$unit") >/given/said 2>&1 || status=$?
  say process $(basename "$unit" .service) ends with $status, $(grep -oE 'TEMPER_DATABASE_URL|TEMPER_CONSOLE_KEY' /given/said | head -1)
  setpriv --reuid "$user" --regid temper --clear-groups cat /etc/temper/bmc.env >/dev/null 2>&1 && say "$user reads the keys of BMCs"
done

echo '# of this site' >>/etc/temper/shared.env
if [ -e /given/temper.rpm ]; then
  on_rpm --upgrade --nodeps --force /given/temper.rpm && say again $(tail -1 /etc/temper/shared.env)
  say upgraded, changed files $(on_rpm --verify --nodeps temper | wc -l)
  on_rpm --erase temper && say removed, settings $(ls /etc/temper/*.env* | wc -l), programs $(ls -d /usr/lib/temper /usr/bin/temper /usr/lib/systemd/system/temper* 2>/dev/null | wc -l)
  exit
fi
dpkg -i /given/temper.deb && say again $(tail -1 /etc/temper/shared.env)
dpkg -r temper && say removed, settings $(ls /etc/temper/*.env | wc -l), programs $(ls -d /usr/lib/temper /usr/bin/temper /usr/lib/systemd/system/temper* 2>/dev/null | wc -l)
dpkg -P temper && say purged, settings $(ls -d /etc/temper 2>/dev/null | wc -l)
WALK
exec 3>&1
chroot "$1/root" sh /given/walk >"$1/root/given/log" 2>&1 || { cat "$1/root/given/log" >&2; exit 1; }
