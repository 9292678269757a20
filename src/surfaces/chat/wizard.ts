/** Sets a provider up: its name, key and model, checked with one request before storing. */

import {
  changeConfig,
  checkProfile,
  configPath,
  keyOf,
  knownProvider,
  knownProviders,
  offeredModels,
  openConfig,
  profileFor,
  storeKey,
} from '../../chat/config.ts'
import { attempt, Fault, messageOf } from '../../system/fault.ts'
import type { Machine } from '../../system/machine.ts'
import type { ChatTerminal } from './screen/chat-terminal.ts'
import { safe } from './view/style.ts'

/** Asks for what is missing; true once a provider works. */
export async function runWizard(terminal: ChatTerminal, machine: Machine, wanted: string | null): Promise<boolean> {
  const say = (text: string) => terminal.write(`${text.split('\n').map(safe).join('\r\n')}\r\n`)
  const name = wanted ?? (await chooseProvider(terminal, say))
  if (name === null) return false
  const known = knownProvider(name)
  const { config } = openConfig(machine)
  const existing = config.profiles.get(name)
  let endpoint: string | null = null
  if (!known && !existing) {
    endpoint = await askLine(terminal, 'base URL (such as http://127.0.0.1:8080/v1): ')
    if (!endpoint) return false
  }
  const proposed = existing?.model ?? known?.model ?? null
  for (;;) {
    const needed = known ? known.keyVariable !== null : true
    const key = needed ? await askLine(terminal, `key of ${safe(name)}${known ? '' : ' (empty: none)'}: `, true) : ''
    if (key === null) return false
    const trial = profileFor(machine, name, proposed ?? 'x', endpoint)
    const models = await offeredModels(trial, key || (needed && known ? keyIf(trial, machine) : null), machine)
    for (const [at, one] of models.slice(0, MOST_SHOWN).entries()) say(`  ${at + 1}  ${one}`)
    if (models.length > MOST_SHOWN) say(`  … ${models.length - MOST_SHOWN} more; any name works`)
    const model = await askLine(terminal, `model${proposed ? ` [${safe(proposed)}]` : ''}: `)
    if (model === null) return false
    const chosen = models[Number(model) - 1] ?? (model || proposed)
    if (!chosen) {
      say('a model is needed')
      continue
    }
    try {
      const profile = profileFor(machine, name, chosen, endpoint)
      const used = key || (needed && known ? keyOf(profile, machine, false) : null)
      terminal.write(`asking ${safe(chosen)} … `)
      const answer = await checkProfile(profile, used, machine, AbortSignal.timeout(60_000))
      say(`it answered in ${answer.milliseconds} ms`)
      const warning = key ? storeKey(machine, name, key) : null
      changeConfig(machine, settingsFor(machine, name, chosen, endpoint))
      if (warning) say(`warning: ${warning}`)
      say(`kept in ${configPath(machine)}`)
      return true
    } catch (error) {
      say(`\nthat did not work: ${messageOf(error)}`)
      if (error instanceof Fault && error.remedy) say(`  ${error.remedy}`)
    }
  }
}

const MOST_SHOWN = 30

/** A stored key, or none: what is missing is said after the test request. */
function keyIf(profile: Parameters<typeof keyOf>[0], machine: Machine): string | null {
  return attempt(() => keyOf(profile, machine, false), null)
}

async function chooseProvider(terminal: ChatTerminal, say: (text: string) => void): Promise<string | null> {
  say('No provider is set up yet. Which one?')
  for (const [index, { name, title }] of knownProviders.entries()) say(`  ${index + 1}  ${title} (${name})`)
  say('  or a name for your own endpoint')
  for (;;) {
    const answer = await askLine(terminal, 'provider: ')
    if (answer === null) return null
    const picked = knownProviders[Number(answer) - 1]?.name ?? answer.toLowerCase()
    if (/^[a-z0-9][a-z0-9._-]{0,39}$/.test(picked)) return picked
    say('small letters, digits, dots and dashes')
  }
}

/** Settings for the default provider; others stay. */
function settingsFor(machine: Machine, name: string, model: string, endpoint: string | null) {
  const { config } = openConfig(machine)
  const written = config.written
  const isProfile = written.profiles !== undefined && name in (written.profiles as object)
  if (isProfile) {
    const profiles = written.profiles as Record<string, object>
    return { profile: name, profiles: { ...profiles, [name]: { ...profiles[name], model } } }
  }
  const { profile: _, ...rest } = written
  return {
    ...rest,
    profile: undefined,
    provider: name,
    model,
    endpoint: endpoint ?? (written.provider === name ? written.endpoint : undefined),
  }
}

/** Asks; null if the person gave up. Hidden input shows stars. */
function askLine(terminal: ChatTerminal, question: string, hidden = false): Promise<string | null> {
  return new Promise((resolve) => {
    let text = ''
    const show = (shown: string) => terminal.write(hidden ? '*'.repeat([...shown].length) : shown)
    const finish = (answer: string | null) => {
      terminal.listen(
        () => {},
        () => {},
      )
      terminal.write('\r\n')
      resolve(answer)
    }
    terminal.write(question)
    terminal.listen(
      (key) => {
        if (key === null) return finish(null)
        if (key.kind !== 'key') {
          const line = key.text.replace(/[\r\n]+$/, '').replace(/\p{Cc}/gu, '')
          text += line
          return show(line)
        }
        if (key.name === 'enter') return finish(text.trim())
        if (key.name === 'interrupt' || key.name === 'leave' || key.name === 'escape') return finish(null)
        if (key.name === 'backspace' && text !== '') {
          text = [...text].slice(0, -1).join('')
          terminal.write('\b \b')
        }
      },
      () => {},
    )
  })
}
