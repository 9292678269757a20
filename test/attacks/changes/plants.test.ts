/** What a command plants for others to run is refused when it is written, as root and as a user; without the broker it stays. */

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { QuarantineFinding } from '../../../src/sandbox/quarantine/quarantine.ts'
import { COMPILED } from '../../compiled.ts'
import { makePlace, type Place, runInside, startInside } from '../../contract/changes/sandbox.ts'
import { eachUser, giveTo, own, spawnAs } from '../../users.ts'
import { type Plant, plants } from './plants.ts'

/** Gives each row its folder, with what the person has there already; returns one script for all of them. */
function furnish(place: Place, uid: number): string {
  for (const [index, { before }] of plants.entries()) {
    const folder = join(place.project, `row${index}`)
    mkdirSync(folder)
    if (before) execFileSync('/bin/sh', ['-c', before], { cwd: folder, env: HOST })
  }
  giveTo(uid, place.project)
  const scripts = plants.map(({ script }, index) => `(cd row${index}; ${script}) 2>/dev/null`)
  return `export TOP=$PWD; ${scripts.join('\n')}\n`
}

/** The rows whose plant stays. */
function look(place: Place): string[] {
  return plants.filter((plant, index) => isPlanted(plant, join(place.project, `row${index}`))).map(({ name }) => name)
}

/** The plants that stay while all of them run in one sandbox, and after Cordon is killed meanwhile. */
async function standing(
  place: Place,
  options: { readonly mediated: boolean; readonly uid?: number },
): Promise<{ readonly meanwhile: string[]; readonly killed: string[] }> {
  const script = `${furnish(place, options.uid ?? own.uid)} echo all; exec sleep 10000`
  const running = await startInside(place, ['/bin/sh', '-c', script], 'all', options)
  const meanwhile = look(place)
  await running.kill()
  return { meanwhile, killed: look(place) }
}

const HOST = { PATH: process.env.PATH ?? '', HOME: '/nowhere', GIT_CONFIG_NOSYSTEM: '1' }

function isPlanted({ planted, text, link, needs, repository, workingTree }: Plant, folder: string): boolean {
  if (needs !== undefined && !existsSync(join(folder, needs))) return false
  if (link !== undefined) return lstatSync(join(folder, link), { throwIfNoEntry: false })?.isSymbolicLink() ?? false
  if (workingTree !== undefined) {
    const words = ['config', '--file', join(folder, workingTree, 'config'), 'core.worktree']
    const value = spawnSync('git', words, { env: HOST, encoding: 'utf8' }).stdout.replace(/\n$/, '')
    const path = value.startsWith('/') ? value : `${join(folder, workingTree)}/${value}`
    return value !== '' && existsSync(path) && !realpathSync.native(path).startsWith(join(folder, '..'))
  }
  if (repository !== undefined) {
    const words = ['-c', 'safe.directory=*', '-C', join(folder, repository), 'config', 'core.fsmonitor']
    return (
      spawnSync('git', words, { env: { ...HOST, GIT_CEILING_DIRECTORIES: folder }, encoding: 'utf8' }).stdout !== ''
    )
  }
  const path = join(folder, planted!)
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found !== undefined && (text === undefined || readFileSync(path, 'utf8').includes(text))
}

const everything = plants.map(({ name }) => name)

it('control: without the broker each plant stays', async () => {
  const place = makePlace()
  const found = await standing(place, { mediated: false })
  place.remove()
  expect(found).toEqual({ meanwhile: everything, killed: everything })
})

eachUser(describe)('as $name', ({ uid }) => {
  let place: Place
  beforeEach(() => {
    place = makePlace(uid)
  })
  afterEach(() => place.remove())

  it('stops all of them, while it runs and when Cordon is killed', async () => {
    expect(await standing(place, { mediated: true, uid })).toEqual({ meanwhile: [], killed: [] })
  })

  it('without the broker all of them are settled when the command ends', () => {
    const words = [join(import.meta.dirname, 'settled-worker.ts'), place.base, furnish(place, uid)]
    const settings = { ...spawnAs(uid), env: { PATH: process.env.PATH ?? '', ...COMPILED } }
    const ran = spawnSync(process.execPath, words, { encoding: 'utf8', ...settings })
    expect(look(place), ran.stdout.slice(0, 4000) + ran.stderr).toEqual([])
    // Each is reported with its place, and no scan of the project failed.
    const { findings } = JSON.parse(ran.stdout) as { readonly findings: readonly QuarantineFinding[] }
    const reported = (index: number, { link = '.', planted = link }: Plant) =>
      [`row${index}/`, join(`row${index}`, planted)].some((path) =>
        findings.some((finding) => finding.path.startsWith(join(place.project, path))),
      )
    expect(plants.filter((plant, index) => !reported(index, plant)).map(({ name }) => name)).toEqual([])
    expect(findings.filter(({ action }) => action === 'failed')).toEqual([])
  })

  it('does not remove by the host’s mount what the sandbox shows read-only', () => {
    const script = 'mkdir -p keep/deep; echo x > keep/f; echo x > keep/deep/f; echo x > other'
    runInside(place, ['/bin/sh', '-c', script], { uid, mediated: false })
    const { folder } = place.store.begin({ roots: [place.project], what: 'read-only' })
    giveTo(uid, place.base)
    const remove = 'rm -f other; rm -f keep/f keep/deep/f; cd keep && rm -f f; cd deep && rm -f f'
    runInside(place, ['/bin/sh', '-c', remove], { uid, folder, readOnly: [join(place.project, 'keep')] })
    const left = ['other', 'keep/f', 'keep/deep/f'].filter((path) => existsSync(join(place.project, path)))
    expect(left).toEqual(['keep/f', 'keep/deep/f'])
  })

  it('still writes to a file that has lost its name', () => {
    runInside(place, ['/bin/sh', '-c', 'echo old > f'], { uid, mediated: false })
    const { folder } = place.store.begin({ roots: [place.project], what: 'nameless' })
    giveTo(uid, place.base)
    const script = 'exec 3<>f; rm f; echo new > /proc/self/fd/3; cat <&3; test ! -e f'
    expect(runInside(place, ['/bin/sh', '-c', script], { uid, folder })).toMatchObject({ out: 'new\n', status: 0 })
  })

  it('lets git do its ordinary work', () => {
    const script = `set -e; export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@example.com GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@example.com; git init -q r; cd r; git config user.name x; git config user.email x@example.com; echo a > f; git add f; git commit -qm 1
      git checkout -qb other; echo b > f; git commit -qam 2; git checkout -q -; git merge -q other; echo c > f; git stash -q; git stash pop -q; git commit -qam 3
      git remote add origin https://example.com/x.git; git worktree add -q ../w other; git gc -q; cd ..; git clone -q r c; git -C c log --oneline | wc -l; rm -rf c
      git clone -q --bare r b.git; git -C b.git log --oneline | wc -l; git -C b.git config user.name y; git init -q --bare e.git; git -C r push -q ../e.git HEAD:refs/heads/main
      git -C e.git worktree add -q ../v main; git -C v status --short; git -C e.git worktree move ../v ../u; git -C e.git worktree remove ../u; git -C r worktree remove ../w
      git init -q --separate-git-dir=g.git s; git -C s commit -q --allow-empty -m 1; git -C s worktree add -q ../t; cat g.git/worktrees/t/commondir
      git -C s -c protocol.file.allow=always submodule --quiet add ../b.git sub; git -C s commit -qam sub; git -C s/sub config user.name z; git -C s submodule --quiet update --init
      git -C s/sub log --oneline | wc -l; mv e.git h.git; git -C h.git gc -q; rm -rf b.git h.git s t g.git`
    const { out, status, errors } = runInside(place, ['/bin/sh', '-c', script], { uid })
    expect({ out: out.split(/\s+/).join(' ').trim(), status, errors }).toEqual({
      out: '3 3 ../.. 3',
      status: 0,
      errors: '',
    })
    expect(
      execFileSync('git', ['-c', 'safe.directory=*', '-C', join(place.project, 'r'), 'status', '--short'], {
        encoding: 'utf8',
      }),
    ).toBe('')
  })
})
