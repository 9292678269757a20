import { describe, expect, it } from 'vitest'
import { limitAssurances } from './probe-limits.ts'

const MACHINE = { watches: 1001, instances: 128 }

describe('what the probe says of open files and file watches', () => {
  it.each([
    { said: 'limits 65536 no 500 64', files: 'enforced', watches: 'enforced', note: 'both hold' },
    {
      said: '1 stopped\nlimits 1024 no 10 1\nwritable',
      files: 'enforced',
      watches: 'enforced',
      note: 'less than asked for',
    },
    { said: 'limits 65536 yes 500 64', files: 'degraded', watches: 'enforced', note: 'one more was got' },
    { said: 'limits 65537 no 500 64', files: 'degraded', watches: 'enforced', note: 'more than asked for' },
    { said: 'limits unlimited no 500 64', files: 'degraded', watches: 'enforced', note: 'no limit at all' },
    { said: 'limits 65536 no 501 64', files: 'enforced', watches: 'degraded', note: 'more than half of the watches' },
    { said: 'limits 65536 no 500 65', files: 'enforced', watches: 'degraded', note: 'more than half of the instances' },
    { said: 'limits 65536 no none none', files: 'enforced', watches: 'degraded', note: 'a kernel without the files' },
    { said: '', files: 'degraded', watches: 'degraded', note: 'nothing was said' },
  ])('$note: open files $files, watches $watches', ({ said, files, watches }) => {
    expect(limitAssurances(said, MACHINE).map(({ status }) => status)).toEqual([files, watches])
  })

  it('names the numbers', () => {
    expect(limitAssurances('limits 20000 no 500 64', MACHINE).map(({ detail }) => detail)).toEqual([
      'at most 20000 in each process',
      "at most 500 inotify watches and 64 instances, half of this user's",
    ])
  })

  it('a machine that does not say its own number cannot be compared with', () => {
    const [, watches] = limitAssurances('limits 65536 no 500 64', { watches: null, instances: 128 })
    expect(watches).toMatchObject({ name: 'file watches', status: 'degraded' })
  })
})
