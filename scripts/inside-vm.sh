#!/bin/bash
# The first process of a machine of scripts/test-vm.sh: sets it up, runs what is to be tried, and turns it off.
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev 2>/dev/null
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /run
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t securityfs security /sys/kernel/security
mount -t cgroup2 cgroup /sys/fs/cgroup
ip link set lo up
hostname vm
export PATH=/srv/cordon/bin:/srv/cordon/node_modules/.bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 CORDON_KEYCHAIN=off TERM=dumb
word() { sed -n "s/.*\b$1=\([^ ]*\).*/\1/p" /proc/cmdline; }
# vm_sysctl=KEY=VALUE
setting=$(sed -n 's/.*vm_sysctl=\([^ ]*\).*/\1/p' /proc/cmdline)
expects=$(word vm_expects)
echo "vm: fact kernel $(uname -r), modules $(cat /sys/kernel/security/lsm)"
if [ -n "$setting" ]; then
  if sysctl -qw "$setting"; then echo "vm: fact $setting"; else echo "vm: FAILED this kernel knows no ${setting%%=*}"; fi
fi
as() { # user, command…
  local user=$1 home=/root
  shift
  [ "$user" = root ] || home=/home/$user
  setpriv --reuid "$user" --regid "$user" --init-groups env HOME="$home" USER="$user" "$@"
}
attempt() { # what, command…
  local what=$1
  shift
  if "$@" >/tmp/log 2>&1; then echo "vm: ok $what"; else
    echo "vm: FAILED $what"
    cat /tmp/log
  fi
}
promises() { # user, program: `doctor` in one line
  as "$1" sh -c 'mkdir -p ~/work && cd ~/work && git init -q . 2>/dev/null; exec "$@"' sh "$2" doctor 2>&1 | grep -E "protections work with" | sed "s/^/vm: fact doctor as $1: /"
}
tour() { # user, program
  as "$1" sh -c 'cd && exec "$@"' sh "$2" try --yes
  grep -q "^$expects of 10" /tmp/log
}
cd /srv/cordon
attacks() { # user
  [ -n "$(word vm_attacks)" ] || return 0
  as "$1" sh -c 'cd /srv/cordon && PATH=$PWD/node_modules/.bin:$PATH exec node scripts/test.ts --project attacks --exclude "test/attacks/{page,agent,fleet}/**"' >/tmp/attacks 2>&1
  local code=$?
  grep -E '^[0-9]+ passed' /tmp/attacks | sed "s/^/vm: fact attacks as $1: /"
  if [ $code = 0 ]; then echo "vm: ok attacks as $1"; else
    echo "vm: FAILED attacks as $1"
    grep -aE 'FAIL|Error:' /tmp/attacks | head -n 60
  fi
}
chmod 1777 /srv
chown -R dev /srv/cordon/node_modules/.vite 2>/dev/null
refuses() { # user, reason
  as "$1" sh -c 'cd ~/work && ! cordon run -- true' && grep -q "\[$2\]" /tmp/log
}
for user in root dev; do
  promises $user cordon
  case $expects in
    [0-9]*)
      attempt "cordon try as $user: $expects of 10" tour $user cordon
      attacks $user
      ;;
    *) attempt "cordon run is refused with $expects as $user" refuses $user "$expects" ;;
  esac
done
if ls /srv/release/*.deb >/dev/null 2>&1 && [ "$expects" = 10 ]; then
  attempt 'the Debian package installs' dpkg -i /srv/release/cordon_*_amd64.deb
  [ ! -e /etc/apparmor.d/cordon-bwrap ] || apparmor_parser -r /etc/apparmor.d/cordon-bwrap
  attempt 'cordon try from the package as dev' tour dev /usr/bin/cordon
fi
echo 'vm: end'
sync
echo o >/proc/sysrq-trigger
sleep 10
