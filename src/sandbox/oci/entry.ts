/** PURE. The program that every container starts with: it brings in the files, runs the program, ends what is left, and hands files out. */

/** Where a container has what is handed in and out. The OS sandbox shows the host's own paths instead. */
export interface EntryPlaces {
  readonly in: string
  readonly out: string
}

export const CONTAINER_PLACES: EntryPlaces = { in: '/in', out: '/out' }
export const WORK = '/work'

/**
 * What the program does to the out files by itself it may do anyway: they are its own words. They are single files of a
 * limited size that are there before it starts, so that it cannot fill the host's disk.
 */
const SCRIPT = `in=$1 out=$2 count=$3; shift 3
names=("\${@:1:count}"); shift "$count"
cd ${WORK} || exit 125
cp -R "$in/files/." . || exit 125
"$@" <"$in/stdin"
status=$?
kill -9 -1 2>/dev/null
for i in "\${!names[@]}"; do
  name=\${names[i]}
  if [ -f "$name" ] && [ ! -L "$name" ] && cat -- "$name" >"$out/$i"; then echo "$i" >>"$out/made"; fi
done 2>/dev/null
exit "$status"`

/** The words that start a program in its container. */
export function entryArgv(argv: readonly string[], outputs: readonly string[], places: EntryPlaces): string[] {
  const words = argv.map((word) => (word.startsWith('{in}') ? `${places.in}${word.slice(4)}` : word))
  return ['/bin/bash', '-c', SCRIPT, 'entry', places.in, places.out, String(outputs.length), ...outputs, ...words]
}

/** What a program sees of its surroundings. */
export const ENTRY_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
  HOME: WORK,
  TMPDIR: '/tmp',
  LANG: 'C.UTF-8',
}
