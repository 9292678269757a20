/** Several ways to say the same are judged alike, whatever mode and denials there are: tables that drift apart show here. */

import { expect, it } from 'vitest'
import { BatchChecker } from '../../src/call/decide/batch.ts'
import { machineFiles } from '../../src/system/files.ts'
import { thisMachine } from '../../src/system/machine.ts'

const rows: readonly (readonly [note: string, ...ways: readonly string[]])[] = [
  ['a package of PyPI', 'uvx evilpkg', 'uv tool run evilpkg', 'pipx run evilpkg'],
  [
    'one of npm',
    'npx evilpkg',
    'npm exec evilpkg',
    'npm x evilpkg',
    'pnpm dlx evilpkg',
    'yarn dlx evilpkg',
    'bunx evilpkg',
    'bun x evilpkg',
    'pnpx evilpkg',
  ],
  ['a package that brings it', 'uvx --from other evilpkg', 'uv tool run --from other evilpkg'],
  [
    'a line of shell',
    "npx -c 'rm -rf ~/x'",
    "npm x --call 'rm -rf ~/x'",
    "npm exec -c 'rm -rf ~/x'",
    "pnpm dlx -c 'rm -rf ~/x'",
  ],
  ['a line of shell that reads', "npx -c 'cat .env'", "npm exec -c 'cat .env'", "npm x -c 'cat .env'"],
  ['a program of the project', 'pnpm evilpkg x', 'yarn evilpkg x', 'bun run evilpkg x', 'yarn run evilpkg x'],
  [
    'a wrapper behind a runner',
    'npx cross-env A=1 rm -rf /',
    'npm x cross-env A=1 rm -rf /',
    'pnpm dlx cross-env A=1 rm -rf /',
    'bunx cross-env A=1 rm -rf /',
  ],
  [
    'packages for the project',
    'pip install evilpkg',
    'pip3 install evilpkg',
    'python3 -m pip install evilpkg',
    'uv pip install evilpkg',
  ],
  [
    'packages of npm',
    'npm install evilpkg',
    'npm i evilpkg',
    'npm add evilpkg',
    'pnpm add evilpkg',
    'yarn add evilpkg',
    'bun add evilpkg',
  ],
  ['what the lock file says', 'npm ci', 'npm clean-install'],
  ['publishing', 'npm publish', 'pnpm publish', 'bun publish', 'yarn npm publish'],
  ['in an environment of conda', 'conda run rm -rf ~/x', 'mamba run rm -rf ~/x', 'micromamba run rm -rf ~/x'],
  ['tools of mise', 'mise exec -- rm -rf ~/x', 'mise x -- rm -rf ~/x', 'rtx exec -- rm -rf ~/x'],
  ['with variables', 'env A=1 rm -rf ~/x', 'genv A=1 rm -rf ~/x', 'A=1 rm -rf ~/x'],
  [
    'with a limit',
    'timeout 5 rm -rf ~/x',
    'gtimeout 5 rm -rf ~/x',
    'nice rm -rf ~/x',
    'gnice rm -rf ~/x',
    'stdbuf -o0 rm -rf ~/x',
    'nohup rm -rf ~/x',
    'command rm -rf ~/x',
    'exec rm -rf ~/x',
    'time rm -rf ~/x',
  ],
  [
    'by a shell',
    'sh -c "rm -rf ~/x"',
    'bash -c "rm -rf ~/x"',
    'dash -c "rm -rf ~/x"',
    'zsh -c "rm -rf ~/x"',
    'busybox sh -c "rm -rf ~/x"',
    'eval "rm -rf ~/x"',
  ],
  ['other rights', 'sudo ls', 'doas ls', 'su -c ls', 'pkexec ls', 'run0 ls'],
  ['infrastructure', 'terraform destroy', 'tofu destroy', 'terragrunt destroy'],
  ['the same, forced', 'terraform apply -auto-approve', 'tofu apply -auto-approve'],
  [
    'a container',
    'docker run alpine true',
    'podman run alpine true',
    'nerdctl run alpine true',
    'docker container run alpine true',
  ],
  ['its removal', 'docker rm -f db', 'podman rm -f db', 'docker container rm -f db'],
  ['a pod', 'kubectl delete pod db', 'oc delete pod db', 'kubectl -n x delete pod db'],
  ['another machine', 'ssh host rm -rf x', 'autossh host rm -rf x'],
  [
    'a secret',
    'cat .env',
    'head .env',
    'less .env',
    'grep . .env',
    'sed -n p .env',
    'awk 1 .env',
    'base64 .env',
    'bat .env',
    'gcat .env',
    'tac .env',
    'nl .env',
    'xxd .env',
  ],
  ['a removal', 'rm -rf ~/x', 'grm -rf ~/x', '/bin/rm -rf ~/x', "'rm' -rf ~/x", '\\rm -rf ~/x', 'find ~/x -delete'],
  ['a file of the web', 'curl -o x https://a.example/x', 'wget -O x https://a.example/x'],
  ['a push', 'git push origin main', 'git -C . push origin main', 'command git push origin main'],
  ['a forced push', 'git push --force', 'git push -f', 'git push --force-with-lease', 'git push origin +main'],
]

const checker = new BatchChecker({ ...thisMachine(), home: '/home/dev' }, machineFiles, { kind: 'project' })

const MANIFESTS: readonly object[] = [
  {},
  { permission: { mode: 'contained' } },
  { permission: { mode: 'auto' } },
  { capabilities: { deny: { commands: { patterns: ['rm', 'evilpkg'] } } } },
  { permission: { mode: 'auto' }, capabilities: { deny: { commands: { patterns: ['rm', 'evilpkg'] } } } },
]

async function judge(command: string, manifest: object): Promise<unknown> {
  const line = {
    id: 1,
    tool: 'bash',
    input: { command },
    root: '/project',
    manifest: { schema_version: 1, ...manifest },
  }
  const answer = await checker.answer(JSON.stringify(line))
  return answer.decision ?? answer.error
}

it('a denial reaches what a runner runs', async () => {
  const manifest = MANIFESTS.at(-1)!
  for (const way of ['npx evilpkg', 'npx -y evilpkg@3 x', 'uvx --from other evilpkg', "npm x -c 'evilpkg x'"])
    expect([way, await judge(way, manifest)]).toEqual([way, 'deny'])
  for (const way of ['yarn run evilpkg', 'bun evilpkg', 'pnpm --silent evilpkg'])
    expect([way, await judge(way, manifest)]).toEqual([way, 'ask'])
  // Their own word for taking a package out.
  expect(await judge('pnpm rm lodash', manifest)).toBe('allow')
})

it.each(rows)('%s', async (_, ...ways) => {
  for (const manifest of MANIFESTS) {
    const judged = await Promise.all(ways.map(async (way) => [way, await judge(way, manifest)]))
    const [, first] = judged[0]!
    expect(['allow', 'ask', 'deny']).toContain(first)
    expect(judged).toEqual(ways.map((way) => [way, first]))
  }
})
