// Checks manifests against the schemas of Kubernetes, which npm has: node schema.mjs FILE, where kubernetes-models and yaml are installed.
import { readFileSync } from 'node:fs'
import { Deployment } from 'kubernetes-models/apps/v1'
import { ConfigMap, PersistentVolumeClaim, Secret } from 'kubernetes-models/v1'
import { parseAllDocuments } from 'yaml'

const kinds = { Deployment, ConfigMap, PersistentVolumeClaim, Secret }
for (const document of parseAllDocuments(readFileSync(process.argv[2], 'utf8'))) {
  const value = document.toJS()
  if (value === null) continue
  new kinds[value.kind](value).validate()
  console.log(value.kind)
}
