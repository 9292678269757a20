import { expect, test } from 'vitest'
import { onlyLooks } from './remote-reads.ts'

test.each([
  ['ls -la /srv', true, 'a listing'],
  ['cd /srv && docker compose logs --tail 5 web 2>&1 | grep x', true, 'a pipe of reads'],
  ['cat /var/log/a; df -h', true, 'two reads'],
  ["grep 'a b' f", true, 'quotes'],
  ['journalctl -u web -n 20', true, 'a log'],
  ['', false, 'a session'],
  ['ls; rm -rf /', false, 'one part that deletes'],
  ['ls\nrm x', false, 'a line of its own'],
  ['ls & rm x', false, 'in the background'],
  ['cat x > y', false, 'a redirect'],
  ['cat x 2>/dev/nullx', false, 'a redirect that only begins harmlessly'],
  ['cat $(rm x)', false, 'a substitution'],
  ['cat `rm x`', false, 'the older one'],
  ['echo "a; rm x"', false, 'a separator in quotes is not taken apart'],
  ["ls '; rm x; '", false, 'nor in these'],
  ['find / -delete', false, 'an action of find'],
  ['find / -execdir rm {} +', false, 'another one'],
  ['docker compose up -d', false, 'a change'],
  ['docker compose -f a.yml ps', true, 'options before the verb'],
  ['date -s now', false, 'sets the clock'],
  ['hostname evil', false, 'sets the name'],
  ['journalctl --vacuum-size=1', false, 'deletes logs'],
  ['sudo ls', false, 'other rights'],
  ['-oProxyCommand=x ls', false, 'an option behind the host'],
  ['lsx', false, 'another program'],
])('%j: %s (%s)', (text, want) => {
  expect(onlyLooks(text)).toBe(want)
})
