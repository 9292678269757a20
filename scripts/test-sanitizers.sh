#!/usr/bin/env bash
# Builds cordon-init with AddressSanitizer and UndefinedBehaviorSanitizer in a copy of this checkout, and drives it: rows that change
# files and start programs, random calls, and random texts for its parsers. Each finding ends the init, and so fails its row.
#   test-sanitizers.sh [SECONDS [SEED]]   for the parsers; the random calls are a round for every ten seconds
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=${1:-60} seed=${2:-$RANDOM}
sanitize="-g -O1 -U_FORTIFY_SOURCE -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"
base=$(mktemp -d /var/tmp/cordon-sanitizers-XXXXXX)
trap 'rm -rf "$base"' EXIT
chmod 755 "$base"
copy=$base/checkout
mkdir "$copy"
git -c safe.directory='*' ls-files -z --cached --others --exclude-standard | tar -c --null --ignore-failed-read -T - 2>/dev/null | tar -x -C "$copy"
ln -s "$PWD/node_modules" "$copy/node_modules"
# A static program cannot have AddressSanitizer, and leaks are looked for by a tracer, which the init does not allow.
echo 'const char *__asan_default_options(void); const char *__asan_default_options(void) { return "detect_leaks=0:abort_on_error=1"; }' >"$base/options.c"
cat >"$base/cc" <<EOF
#!/usr/bin/env bash
words=() more=()
for word; do
  case \$word in
    -static) static=1 ;;
    *) words+=("\$word") ;;
  esac
  case \$word in */init/*.c) more=($sanitize "$base/options.c") ;; esac
done
[ \${#more[@]} -gt 0 ] || words+=(\${static:+-static})
exec cc "\${words[@]}" "\${more[@]}"
EOF
chmod 755 "$base/cc"
cd "$copy"
CC=$base/cc sh native/build.sh
bash scripts/set-up.sh build
ls native/init/*.c native/broker/*.c native/programs/*.c native/bare/*.c | grep -Ev '/(git|identity|words|names)\.c$' |
  xargs cc -std=gnu11 -pthread $sanitize -Dmain=init_main -o "$base/parsers" test/contract/changes/parsers.c
"$base/parsers" "$seconds" "$seed"
node scripts/fuzz-changes.ts $(((seconds + 9) / 10)) "$seed"
node_modules/.bin/vitest run test/contract/changes test/attacks/changes test/attacks/programs
