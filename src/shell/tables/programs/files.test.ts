/** What makes file and archive tools more than their name says: a hazard code, or a path outside the project, for each line. */

import { describe, expect, test } from 'vitest'
import { findingsOf, rowsOf } from '../../../../test/command-line.ts'

const table = `
option-runs-program | tar cf /dev/null x --checkpoint=1 --checkpoint-action=exec=sh
option-runs-program | tar cf x.tar --checkpoint-act=exec=id .
option-runs-program | tar xf x.tar --to-command=sh
option-runs-program | tar xf x.tar --to-comm=sh
option-runs-program | tar -cf x.tar -I 'sh -c id' .
option-runs-program | tar --use-compress-program=./e -xf x
option-runs-program | tar --use-compress=./e -xf x
option-runs-program | tar xf evil:x.tar --rsh-command=./e
option-writes-file | tar -xPf x.tar
option-writes-file | tar --absolute-names -xf x.tar
write:/tmp/x.tgz | tar czf /tmp/x.tgz ~/.ssh
read:/home/u | tar czf - /home/u
option-reads-list | tar cf x.tar -T /etc/shadow
write:/etc | tar -xf x.tar --directory=/etc
write:/etc | tar xfC x.tar /etc
option-runs-program | tar --info-script=./e -xf x
option-runs-program | tar -F ./e -xf x
option-reads-list | tar c -f x.tar --files-from=list .
option-writes-file | tar xf x.tar --remove-files
option-runs-program | zip x.zip f -T -TT 'sh -c id'
option-runs-program | zip x.zip f -T --unzip-command='sh -c id'
read:/home/u/.ssh | zip x.zip -r ~/.ssh
write:/etc | unzip x.zip -d /etc
option-reads-list | xargs -a /etc/shadow echo
write:/etc/x | tee /etc/x
write:/home/u/.bashrc | tee -a ~/.bashrc
write:/etc | cp -t /etc x
write:/etc | cp --target-directory=/etc x
write:/home/u/.ssh/authorized_keys | cp x ~/.ssh/authorized_keys
read:/home/u/.ssh/id_rsa | cp ~/.ssh/id_rsa .
write:/etc | mv -t /etc x
write:/usr/local/bin/y | install -m 755 x /usr/local/bin/y
option-runs-program | install --strip-program=./e -s x y
read:/home/u/.ssh | ln -s ~/.ssh x
read:/etc/shadow | ln -sf /etc/shadow x
read:/etc/shadow | dd if=/etc/shadow of=x
changes-system | dd if=x of=/dev/sda
write:/etc/x | dd of=/etc/x
changes-system | chmod u+s x
changes-system | chmod 4755 x
changes-system | chmod +s x
changes-system | chmod g+s x
changes-system | chmod 2755 x
changes-system | chmod ug=rwxs x
changes-system | chmod -R 777 /etc
write:/etc | chown root x /etc
write:/etc/x | touch /etc/x
write:/etc/x | mkdir -p /etc/x
changes-system | rm --no-preserve-root -rf /
write:/home/u | rm -rf ~
write:/ | rm -rf /
write:/etc/x | truncate -s 0 /etc/x
write:/home/u/.ssh/id_rsa | shred ~/.ssh/id_rsa
option-runs-program | patch -e f
option-writes-file | patch -o /etc/x f
option-reads-list | 7z a x.7z @list
read:/etc | 7z x x.7z -o/etc
option-writes-file | cpio -o -O /etc/x
glob-could-be-option | tar czf x.tgz *
changes-system | chmod 777 x
changes-system | chmod -R 777 .
changes-system | chmod o+w x
changes-system | chmod a+rwx x
option-runs-program | tar -cf x.tar --use-compress-prog=./e .
write:/etc/x | tar -xf x --one-top-level=/etc/x
write:/home/u | tar -xf x.tar -C ~
read:/ | tar -cvzf x.tgz -C / etc
read:/home/u/x | tar -cf x.tar --exclude-from=/home/u/x .
option-writes-file | tar -g /etc/x -cf y .
write:/home/u/x.tar | tar rf ~/x.tar f
read:/home/u/x.tar | tar -xf ~/x.tar
read:/home/u/x.tar | tar tf ~/x.tar
option-writes-file | tar cf x.tar --index-file=/etc/x .
option-runs-program | tar -cf x.tar --rmt-command=./e .
option-runs-program | tar -cf host:x .
option-runs-program | tar -M -F ./e -cf x .
option-runs-program | tar cf x.tar --to-stdout --checkpoint-action='exec=id'
option-runs-program | bsdtar --use-compress-program ./e -xf x
option-runs-program | zip -TT id x.zip y
option-reads-list | zip -@ x.zip
write:/home/u/x.zip | zip ~/x.zip y
read:/home/u/x.zip | unzip ~/x.zip
write:/home/u/x | gzip ~/x
write:/home/u/x | gzip -k ~/x
write:/home/u/x | xz ~/x
option-writes-file | zstd --rm x
option-writes-file | zstd -o /etc/x y
option-runs-program | cpio -idF x --rsh-command=./e
option-reads-list | cpio -E list -o
read:/home/u/x.a | ar rcs ~/x.a y.o
option-loads-code | ar --plugin ./e.so x y
write:/home/u/x | tee ~/x
`

describe('file and archive tools: options and operands that need a person', () => {
  test.each(rowsOf(table))('%s: %s', (expected, line) => {
    expect(findingsOf(line)).toContain(expected)
  })
})
