#!/usr/bin/env bash
# Boots Debian kernels in qemu and runs `cordon doctor` and `cordon try` in each, as root and as a user.
#   npm test -- vm [--dir DIR] [--attacks] [NAME …]
# DIR keeps the Debian folders for the next run, NAME is one of the rows below, and --attacks also runs the attack tests.
# Needs root and 10 GB. With release/ present the Debian package is installed and tried as well.
# The machines are emulated, so that it works inside another virtual machine: minutes without --attacks, hours with it.
# Ends with `N passed, N failed`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# name | Debian | further words for the kernel | sysctl | promises of the tour that hold, or the reason to refuse a command
rows='
debian12        | bookworm |                                  |                            | 10
debian13        | trixie   |                                  |                            | 10
no-landlock     | trixie   | lsm=capability,yama,apparmor,bpf |                            | 9
no-userns       | trixie   |                                  | user.max_user_namespaces=0 | 10
no-userns-old   | bookworm |                                  | user.max_user_namespaces=0 | changes-broker
'
dir=
names=() attacks=
while [ $# -gt 0 ]; do
  case $1 in
    --dir) dir=$(realpath -m "$2"); shift 2 ;;
    --attacks) attacks=1; shift ;;
    *) names+=("$1"); shift ;;
  esac
done
work=$(mktemp -d /var/tmp/cordon-vm-XXXXXX)
trap 'rm -rf "$work"' EXIT
[ -n "$dir" ] || dir=$work/debian
mkdir -p "$dir"
mirror=$(sed -n 's/^URIs: //p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -n 1)
packages=linux-image-amd64,apparmor,initramfs-tools,kmod,bubblewrap,git,curl,wget,openssh-client,openssl,python3,locales,dropbear-bin
packages=$packages,gcc,libc6-dev,procps,iproute2,ca-certificates,util-linux

# A Debian folder with this checkout in it. The tests' own files are copied anew for each run.
prepare() { # suite
  local root=$dir/$1
  if [ ! -e "$root/.ready" ]; then
    rm -rf "$root"
    echo "vm: debootstrap $1" >&2
    debootstrap --variant=minbase --include="$packages" "$1" "$root" "$mirror" >"$work/log" 2>&1 || { tail -n 5 "$work/log" >&2; exit 1; }
    chroot "$root" useradd -m dev
    touch "$root/.ready"
  fi
  rm -rf "$root/srv"
  mkdir -p "$root/srv/cordon"
  git ls-files -z | tar -c --null -T - | tar -x -C "$root/srv/cordon"
  cp -a node_modules dist "$root/srv/cordon/"
  chown -R 0:0 "$root/srv"
  cp -r release "$root/srv/release" 2>/dev/null || true
  cp scripts/inside-vm.sh "$root/srv/inside-vm.sh"
}

passed=0 failed=0
report() { # ok|FAILED, text
  if [ "$1" = ok ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  printf '%-7s %s\n' "$1" "$2"
}

boot() { # name, suite, words for the kernel, sysctl, expectation
  local image=$work/$1.img log=$work/$1.log
  mkfs.ext4 -qF -d "$dir/$2" "$image" 8G
  timeout 7200 qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m 4096 -nographic -no-reboot \
    -drive "file=$image,format=raw,if=virtio" -kernel "$dir/$2"/boot/vmlinuz-* -initrd "$dir/$2"/boot/initrd.img-* \
    -append "root=/dev/vda rw console=ttyS0 quiet panic=-1 init=/srv/inside-vm.sh $3 vm_sysctl=$4 vm_expects=$5 vm_attacks=$attacks" </dev/null >"$log" 2>&1 || true
  rm -f "$image"
  # A machine that stopped half-way has no last line, and fails.
  grep -q '^vm: end' "$log" || report FAILED "$1: the machine did not reach its end"
  while IFS= read -r line; do
    line=${line%$'\r'}
    case $line in
      'vm: ok '*) report ok "$1: ${line#vm: ok }" ;;
      'vm: FAILED '*) report FAILED "$1: ${line#vm: FAILED }" ;;
      'vm: fact '*) printf 'fact    %s: %s\n' "$1" "${line#vm: fact }" ;;
    esac
  done <"$log"
  cp "$log" "$dir/$1.log"
}

while IFS='|' read -r name suite words setting expects; do
  name=${name// /} suite=${suite// /} expects=${expects// /} setting=${setting// /} words=$(echo $words)
  [ -n "$name" ] || continue
  if [ ${#names[@]} -gt 0 ] && [[ " ${names[*]} " != *" $name "* ]]; then continue; fi
  prepare "$suite"
  boot "$name" "$suite" "$words" "$setting" "$expects"
done <<<"$rows"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
