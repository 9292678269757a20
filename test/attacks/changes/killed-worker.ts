/** Runs one command through a session, to be killed in the middle of it; started by meanwhile.test.ts with its machine and the command. */

import { createCordon } from '../../../src/session/cordon.ts'
import { type Machine, thisMachine } from '../../../src/system/machine.ts'

const machine = { ...thisMachine(), ...(JSON.parse(process.argv[2]!) as Partial<Machine>) }
process.env.CORDON_KEYCHAIN = 'off'
const prompter = { name: 'yes', ask: async () => ({ kind: 'once' as const }), question: async () => '' }
const session = (await createCordon({ project: machine.cwd, machine, prompter })).openSession()
await session.call('bash', { command: process.argv[3]! })
