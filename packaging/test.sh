#!/usr/bin/env bash
# Installs each package of release/ on an empty Debian 12 and 13 and uses it: `cordon try --yes` as root and as a user.
#   packaging/test.sh [bookworm|trixie …]
# Needs root, debootstrap and lintian; release/ comes from npm run release. Ends with `N passed, N failed`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
suites=("$@")
[ ${#suites[@]} -gt 0 ] || suites=(bookworm trixie)
[ -e release/SHA256SUMS.sig ] || { echo 'packages: run CORDON_RELEASE_KEY=KEY.pem npm run release first' >&2; exit 1; }
missing=()
for program in debootstrap lintian; do command -v "$program" >/dev/null || missing+=("$program"); done
if [ ${#missing[@]} -gt 0 ]; then apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
check() { # what, command…
  local what=$1 started=$SECONDS
  shift
  if "$@" >"$work/log" 2>&1; then
    passed=$((passed + 1))
    printf 'ok      %s (%s s)\n' "$what" $((SECONDS - started))
  else
    failed=$((failed + 1))
    printf 'FAILED  %s\n' "$what"
    tail -n 30 "$work/log"
  fi
}
mirror=$(sed -n 's/^URIs: //p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -n 1)
architecture=$(dpkg --print-architecture)
root=
# The root is really changed: after a plain chroot the kernel refuses user namespaces. Nothing outlives the namespaces.
change_root='mount --bind "$0" "$0" && cd "$0" && mount -t proc proc proc && mount --rbind /dev dev && mkdir -p .host &&
  pivot_root . .host && umount -l /.host && exec "$@"'
inside() { # user, command…
  local user=$1 home=/root
  shift
  [ "$user" = root ] || home=/home/$user
  unshare --mount --pid --fork --kill-child sh -c "$change_root" "$root" \
    setpriv --reuid "$user" --regid "$user" --init-groups env -i HOME="$home" USER="$user" TERM=dumb CORDON_KEYCHAIN=off \
    PATH="$home/.local/bin:/usr/sbin:/usr/bin:/sbin:/bin" sh -c 'cd "$HOME" && exec "$@"' sh "$@"
}
refuses() { ! "$@"; }
try() { inside "$1" cordon try --yes && inside "$1" sh -c 'mkdir -p work && cd work && exec cordon run -- true'; }

check 'lintian is clean' lintian --allow-root --fail-on error,warning release/*"_$architecture.deb"
for suite in "${suites[@]}"; do
  debootstrap --variant=minbase --include=openssl "$suite" "$work/$suite" "$mirror" >"$work/log" 2>&1 || { tail -n 5 "$work/log"; exit 1; }
  for kind in deb archive; do
    root=$work/$suite-$kind
    cp -a "$work/$suite" "$root"
    cp -r release "$root/srv/release"
    chroot "$root" useradd -m dev
    if [ "$kind" = deb ]; then
      check "$suite: install.sh refuses a Debian package with another hash" refuses inside dev sh -c 'cp -r /srv/release broken && for f in broken/*.deb; do echo x >>"$f"; done && sh broken/install.sh --deb'
      check "$suite: apt installs the Debian package" inside root sh /srv/release/install.sh --deb
      check "$suite: the manual page and the completions are there" inside root bash -c 'zcat /usr/share/man/man1/cordon.1.gz | grep -q "cordon run" && . /usr/share/bash-completion/completions/cordon'
      users=(root dev)
    else
      check "$suite: install.sh refuses an archive with another hash" refuses inside dev sh -c 'cp -r /srv/release broken && echo x >>broken/cordon-linux-x64.tar.gz && sh broken/install.sh'
      check "$suite: install.sh refuses checksums that are not signed" refuses inside dev sh -c 'cp -r /srv/release other && echo >>other/SHA256SUMS && sh other/install.sh'
      check "$suite: install.sh installs the archive without root" inside dev sh /srv/release/install.sh
      users=(dev)
    fi
    for user in "${users[@]}"; do check "$suite: cordon try from the $kind as $user" try "$user"; done
    if [ "$kind" = deb ]; then check "$suite: apt removes the Debian package" inside root apt-get purge -y cordon; fi
    rm -rf "$root"
  done
  # The dev container feature, as a builder runs it: as root, with its options as variables.
  root=$work/$suite
  mkdir -p "$root/srv/feature"
  tar -xzf release/devcontainer-feature-cordon.tgz -C "$root/srv/feature"
  cp -r release "$root/srv/release"
  check "$suite: the dev container feature installs Cordon" inside root env FROM=/srv/release sh -c 'cd /srv/feature && sh install.sh'
  check "$suite: cordon try from the feature" try root
done
# The GitHub Action, by the script that it runs.
script=$(node -e 'const text = require("fs").readFileSync("action.yml", "utf8"); console.log(text.split("run: |\n")[1].split("\n").filter((line) => line.startsWith("        ")).map((line) => line.slice(8)).join("\n"))')
check 'the script of the GitHub Action installs Cordon' inside root env -C /srv/release FROM=/srv/release KEY= GITHUB_ACTION_PATH=/srv/action bash -euo pipefail -c "$script"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
