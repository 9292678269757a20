/** Loaded before the program: writes down each chunk that it reads, and at its end the modules of Node that it brought in. */

const fs = require('node:fs')
const { basename } = require('node:path')

const { readFileSync } = fs
const before = new Set(process.moduleLoadList)
const note = (line) => fs.appendFileSync(process.env.LOADED_FILES, `${line}\n`)

fs.readFileSync = (path, options) => {
  const read = readFileSync(path, options)
  if (typeof path === 'string' && /\/dist\/chunks\//.test(path)) note(`chunk ${basename(path)} ${read.length}`)
  return read
}

/** Public ones: what Node splits off inside is its own affair. */
function noteModules() {
  const own = process.moduleLoadList.filter((name) => !before.has(name) && /^NativeModule (?!internal\/)/.test(name))
  for (const name of own) note(`module ${name.slice('NativeModule '.length)}`)
}

// The program ends by its addon, which runs no listener.
const { dlopen } = process
process.dlopen = (module, ...rest) => {
  Reflect.apply(dlopen, process, [module, ...rest])
  const { exit } = module.exports
  if (!exit) return
  module.exports = {
    ...module.exports,
    exit(code) {
      noteModules()
      exit(code)
    },
  }
}
process.on('exit', noteModules)
