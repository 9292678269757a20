/** Writes docs/reference/manifest.md from the schema of the manifest. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { renderReference } from './manifest-reference.ts'

const docs = new URL('../docs/reference/', import.meta.url)
mkdirSync(docs, { recursive: true })
writeFileSync(new URL('manifest.md', docs), renderReference())
