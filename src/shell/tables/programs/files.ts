/** Programs that make, move, change and pack files. */

import { buildRules } from '../rules/build.ts'
import { archiveRules, fileRules } from '../rules/files.ts'
import type { Program, ProgramTable } from '../spec.ts'

export function filePrograms(): ProgramTable {
  const packing = '\n  -S --suffix -T --threads --fast --best -B --block-size --memlimit <text>'
  const expanding = '-c -l -t -Z --stdout --to-stdout --list --test --no-name'

  const rimrafKind: Program = { operands: 'grow*', options: '\n  -g --glob' }
  const ZKind: Program = { style: 'word', operands: 'text auto*', wary: true }
  const arKind: Program = { bundled: true, wary: true, options: '\n  --plugin <load>\n  -X <text>', operands: 'auto*' }

  return {
    touch: { options: '\n  -r --reference <text>\n  -d --date -t --time <text>', operands: 'write*' },
    'mkdir rmdir mkfifo': { options: '\n  -m --mode <text>', operands: 'write*' },
    unlink: { operands: 'write*', rules: [fileRules] },
    'srm wipe': { operands: 'write*', rules: [fileRules] },
    mknod: { always: ['system', 'makes a device file'], operands: 'write text*' },
    rm: {
      rules: [fileRules],
      options:
        '\n  --no-preserve-root !system # allows the root of the file system to be deleted\n  --interactive --preserve-root [text]',
      operands: 'write*',
      calm: true,
    },
    rimraf: { ...rimrafKind, rules: [fileRules] },
    'trash trash-put del-cli': rimrafKind,
    mktemp: { options: '\n  -p <write>\n  --tmpdir [write]\n  --suffix -t <text>', operands: 'write' },
    cp: {
      rules: [fileRules],
      options: `
  -t --target-directory <write>
  -S --suffix <text>
  --backup --preserve --no-preserve --sparse --reflink --update --context [text]`,
      operands: 'read* write',
      operandsWith: { '-t': 'read*' },
      calm: true,
    },
    mv: {
      rules: [fileRules],
      options: '\n  -t --target-directory <write>\n  -S --suffix <text>\n  --backup --update [text]',
      operands: 'change* write',
      operandsWith: { '-t': 'change*' },
      calm: true,
    },
    install: {
      options: `
  --strip-program <run>
  -s --strip
  -t --target-directory <write>
  -m --mode -o --owner -g --group -S --suffix <text>
  --backup --context [text]
  -d --directory`,
      operands: 'read* write',
      operandsWith: { '-t': 'read*', '-d': 'write*' },
    },
    ln: {
      rules: [fileRules],
      options: '\n  -s --symbolic\n  -t --target-directory <write>\n  -S --suffix <text>\n  --backup [text]',
      operands: 'read* write',
      operandsWith: { '-s': 'text* write', '-t': 'read*' },
      calm: true,
    },
    link: { operands: 'read write' },
    dd: { rules: [fileRules], style: 'keys', operands: 'text*', wary: true },
    chmod: {
      rules: [fileRules],
      options: '\n  --reference <text>',
      operands: 'text write*',
      operandsWith: { '--reference': 'write*' },
      wary: true,
    },
    'chown chgrp': {
      options: '\n  --reference --from <text>',
      operands: 'text write*',
      operandsWith: { '--reference': 'write*' },
    },
    setfacl: {
      options:
        '\n  --restore <config>\n  -M --modify-file -X --remove-file --set-file <read>\n  -m --modify -x --remove --set <text>',
      operands: 'write*',
    },
    'chattr setfattr': {
      options: '\n  --restore <config>\n  -n --name -v --value -x --remove <text>',
      operands: 'write*',
      wary: true,
    },
    xattr: { operands: 'auto*', wary: true },
    ditto: { operands: 'tree* grow' },
    sponge: { options: '\n  -a', operands: 'write' },
    'sd comby': {
      options: '\n  -n -f --flags --max-replacements <text>\n  -i --in-place',
      operands: 'text text write*',
    },
    setcap: { always: ['system', 'gives a program more rights'], operands: 'text write' },
    truncate: { rules: [fileRules], options: '\n  -s --size -r --reference <text>', operands: 'write*' },
    shred: {
      rules: [fileRules],
      effects: `
  destructive  | * |  | destroys data on a disk`,
      options: '\n  -n --iterations -s --size <text>\n  --random-source <read>\n  -u --remove [text]',
      operands: 'write*',
    },
    fallocate: { options: '\n  -l --length -o --offset <text>', operands: 'write' },
    patch: {
      options: `
  -e --ed !run # gives the patch to ed, which can run commands
  -i --input <read>
  -o --output -r --reject-file <output>
  -d --directory <grow>
  -p --strip -F --fuzz -D --ifdef -B --prefix -Y -z --suffix -V --version-control <text>
  -g --get <run> # fetches files with the programs of a version control system`,
      operands: 'write read',
    },
    'dos2unix unix2dos': { options: '\n  -n --newfile\n  -c --convmode -i --info <text>', operands: 'change*' },
    rename: { operands: 'text*', always: ['code', 'runs an expression on every name'] },
    tar: {
      rules: [archiveRules],
      bundled: true,
      abbreviates: true,
      options: `
  --to-command <run> # gives every file to a command
  --checkpoint-action <run> # can run a command at a checkpoint
  -I --use-compress-program <run>
  --rsh-command --rmt-command <run>
  -F --info-script --new-volume-script <run>
  -T --files-from <list>
  -X --exclude-from --exclude-ignore --exclude-tag <read>
  --index-file --volno-file -g --listed-incremental <output>
  --list --extract --get --create --append --update --diff --compare --delete
  -P --absolute-names !output # writes outside the directory
  --remove-files !output # deletes what it packed
  -C --directory <text>
  -f --file <text>
  --one-top-level [text]
  --checkpoint --warning --occurrence --totals [text]
  --exclude --transform --xform --strip-components --owner --group --mode --mtime -b --blocking-factor -L --tape-length <text>
  -N --newer --after-date -V --label -K --starting-file -H --format --level --sort --pax-option --quoting-style --clamp-mtime <text>
  --add-file <read>`,
      operands: 'text*',
    },
    bsdtar: {
      rules: [archiveRules],
      bundled: true,
      options:
        '\n  --use-compress-program <run>\n  -f --file -C --directory --exclude -s --strip-components <text>\n  -T --files-from <list>',
      operands: 'text*',
    },
    zip: {
      rules: [archiveRules],
      abbreviates: false,
      options: `
  -TT --unzip-command <run>
  -@ --names-stdin !list
  -b --temp-path <write>
  -O --output-file <write>
  -lf --logfile-path <output>
  -i -x -n -t -tt -P -s --include --exclude --suffixes --password <text>`,
      operands: 'write tree*',
    },
    unzip: {
      options: '\n  -: !output # lets names climb out of the directory\n  -d <grow>\n  -P -x <text>',
      operands: 'read text*',
    },
    'gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma compress uncompress pigz brotli lz4': {
      options: `${packing}\n  --files --files0 [list]\n  -o --output <output>`,
      operands: 'change*',
      operandsWith: { [expanding]: 'read*' },
    },
    'zstd unzstd pzstd': {
      options: `${packing}\n  -o <output>\n  --output-dir-flat --output-dir-mirror <write>\n  --filelist <list>\n  -D --patch-from <read>\n  --rm !output # deletes the source`,
      operands: 'read*',
    },
    '7z 7za 7zr 7zz': { ...ZKind, rules: [archiveRules] },
    'rar unrar': ZKind,
    'unar lsar': { options: '\n  -o -output-directory <grow>\n  -p -password <text>', operands: 'read' },
    cpio: {
      options: `
  --rsh-command <run>
  -O <output>
  -E --pattern-file <list>
  -I -F --file <read>
  -D --directory <grow>
  -H --format -C -R --owner -M <text>
  -i --extract !output # writes wherever the archive says
  -p --pass-through !output # copies files to any place it is given`,
      operands: 'auto*',
    },
    ar: { ...arKind, rules: [archiveRules] },
    ranlib: arKind,
    jar: {
      rules: [buildRules],
      bundled: true,
      options: '\n  -J [load]\n  -f --file <auto>\n  -C <tree>\n  --dir <grow>',
      operands: 'auto*',
    },
  }
}
