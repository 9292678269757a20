/**
 * PURE. What a program finds in its engine: `tools`, `console` and timers, and nothing of the host.
 */

/**
 * Evaluated in the engine with the host's four functions; returns how the host calls back. It keeps
 * the built-ins that it uses, so a program that changes them only harms itself. All values cross as
 * text.
 */
export const PRELUDE: string = String.raw`(function (callHost, print, setTimer, finish) {
  'use strict'
  const { parse, stringify } = JSON
  const { freeze, defineProperty, create } = Object
  const ErrorClass = Error
  const PromiseClass = Promise
  const then = Promise.prototype.then
  const reflect = Reflect.apply
  const StringOf = String
  const MapClass = Map
  const waiting = new MapClass()
  const timers = new MapClass()
  let serial = 0
  const text = (value) => {
    if (typeof value === 'string') return value
    if (value instanceof ErrorClass) return StringOf(value.stack ? value.name + ': ' + value.message + '\n' + value.stack : value)
    try {
      const json = stringify(value)
      return json === undefined ? StringOf(value) : json
    } catch {
      return StringOf(value)
    }
  }
  class ToolError extends ErrorClass {
    constructor(message, code) {
      super(message)
      this.name = 'ToolError'
      this.code = code
    }
  }
  const call = (tool, input) =>
    new PromiseClass((resolve, reject) => {
      const id = (serial += 1)
      waiting.set(id, { resolve, reject })
      const json = stringify(input)
      callHost(id, StringOf(tool), json === undefined ? '{}' : json)
    })
  const toolFunction = (name, first) => (given) =>
    call(name, first !== null && (typeof given !== 'object' || given === null) ? { [first]: given } : given)
  const define = (name, value) => defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false })
  const logger = (stream) => (...values) => print(stream, values.map(text).join(' ') + '\n')
  define('console', freeze({ log: logger('stdout'), info: logger('stdout'), debug: logger('stdout'), warn: logger('stderr'), error: logger('stderr') }))
  define('ToolError', ToolError)
  const timer = (repeat) => (callback, milliseconds, ...args) => {
    const id = (serial += 1)
    timers.set(id, { callback, args, repeat, milliseconds: +milliseconds || 0 })
    setTimer(id, +milliseconds || 0)
    return id
  }
  define('setTimeout', timer(false))
  define('setInterval', timer(true))
  define('clearTimeout', (id) => void timers.delete(id))
  define('clearInterval', (id) => void timers.delete(id))
  return freeze({
    begin: (names) => {
      const tools = create(null)
      for (const { name, first } of parse(names)) tools[name] = toolFunction(name, first)
      define('tools', freeze(tools))
    },
    answer: (id, ok, json) => {
      const entry = waiting.get(id)
      if (!entry) return
      waiting.delete(id)
      const value = parse(json)
      if (!ok) return entry.reject(new ToolError(value.text, value.code))
      entry.resolve(defineProperty(value, 'toString', { value: () => value.text }))
    },
    fire: (id) => {
      const entry = timers.get(id)
      if (!entry) return
      if (entry.repeat) setTimer(id, entry.milliseconds)
      else timers.delete(id)
      entry.callback(...entry.args)
    },
    conclude: (promise, unwrap) =>
      reflect(then, reflect(then, PromiseClass.resolve(promise), [(value) => (unwrap ? value.value : value)]), [
        (value) => finish(true, value === undefined ? null : text(value), false),
        (error) => finish(false, text(error), error instanceof InternalError && error.message === 'out of memory'),
      ]),
  })
})`
