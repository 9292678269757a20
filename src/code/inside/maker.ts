/** Builds components and their Node files in a sandbox, with other people's tools. */

import { mkdtempSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import type { OutsideFrame } from '../frame.ts'

export type Order =
  | { readonly make: 'component'; readonly source: string; readonly typed: boolean; readonly wit: string }
  | { readonly make: 'files'; readonly base64: string }

type Componentize = (source: string, options: object) => Promise<{ readonly component: Uint8Array }>
type Transpile = (
  bytes: Uint8Array,
  options: object,
) => Promise<{ readonly files: Readonly<Record<string, Uint8Array>> }>

const parent = pathToFileURL(join(process.argv[2]!, 'package.json')).href

/** They are ESM only. The folder is given and never the project's. */
async function tool<Exports>(name: string): Promise<Exports> {
  return (await import(import.meta.resolve(name, parent))) as Exports
}

const CALLS = [
  'tools@0.1.0#call',
  'tools@0.1.0#catalog',
  'model@0.1.0#complete',
  'storage@0.1.0#get',
  'storage@0.1.0#set',
]

async function created(order: Order): Promise<Readonly<Record<string, Uint8Array>>> {
  if (order.make === 'component') {
    const { componentize } = await tool<{ componentize: Componentize }>('@bytecodealliance/componentize-js')
    const folder = mkdtempSync(join(tmpdir(), 'wit-'))
    writeFileSync(join(folder, 'agent.wit'), order.wit)
    const disableFeatures = ['stdio', 'random', 'clocks', 'http', 'fetch-event']
    // One of the tools looks for a cache folder.
    const env = { HOME: folder }
    const options = { witPath: join(folder, 'agent.wit'), worldName: 'agent', disableFeatures, env }
    const source = order.typed ? stripTypeScriptTypes(order.source) : order.source
    return { 'agent.wasm': (await componentize(source, options)).component }
  }
  const { transpile } = await tool<{ transpile: Transpile }>('@bytecodealliance/jco')
  const { files } = await transpile(Buffer.from(order.base64, 'base64'), {
    name: 'agent',
    instantiation: 'async',
    asyncMode: 'jspi',
    asyncImports: CALLS.map((call) => `cordon:agent/${call}`),
    asyncExports: ['run'],
    nodejsCompat: false,
    wasiShim: false,
    noTypescript: true,
    base64Cutoff: 0,
  })
  return files
}

const say = (frame: object) => process.stdout.write(`${JSON.stringify(frame)}\n`)
// Cordon does not read what the tools print.
console.log = console.error

createInterface({ input: process.stdin })
  .on('line', async (line) => {
    const frame = JSON.parse(line) as OutsideFrame
    if (frame.kind !== 'run') process.exit(0)
    const done = { kind: 'done', run: frame.run, value: null, limit: null }
    try {
      const files = Object.entries(await created(JSON.parse(frame.code) as Order))
      const wanted = files.filter(([name]) => /\.(?:js|wasm)$/.test(name))
      say({
        ...done,
        error: null,
        files: wanted.map(([name, bytes]) => ({ name, base64: Buffer.from(bytes).toString('base64') })),
      })
    } catch (error) {
      say({ ...done, error: error instanceof Error ? error.message : String(error), files: [] })
    }
  })
  .on('close', () => process.exit(0))
say({ kind: 'ready' })
