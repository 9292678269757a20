/** Writes docs/MANIFEST.md from the schema of the manifest. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { renderReference } from '../src/manifest/schema/reference.ts'

const docs = new URL('../docs/', import.meta.url)
mkdirSync(docs, { recursive: true })
writeFileSync(new URL('MANIFEST.md', docs), renderReference())
