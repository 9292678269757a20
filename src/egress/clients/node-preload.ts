/**
 * The preload for Node before 22.21, which ignores proxy variables: sends default agents and fetch
 * through the proxy.
 */

/** CommonJS for the command's own Node; newer versions return at the first line. */
export const NODE_PRELOAD = `'use strict'
if (!process.allowedNodeEnvironmentFlags.has('--use-env-proxy')) install()

function install() {
  const proxy = process.env.https_proxy && URL.canParse(process.env.https_proxy) && new URL(process.env.https_proxy)
  if (!proxy) return
  const http = require('node:http')
  const https = require('node:https')
  const tls = require('node:tls')
  const bypassed = (process.env.no_proxy || '').split(',').filter(Boolean)
  const direct = (host) => bypassed.includes(String(host).replace(/^\\[|\\]$/g, ''))

  function tunnel(host, port, callback) {
    const authority = (String(host).includes(':') ? '[' + host + ']' : host) + ':' + port
    const request = http.request({
      host: proxy.hostname,
      port: proxy.port,
      method: 'CONNECT',
      path: authority,
      headers: { Host: authority },
      agent: new http.Agent(),
    })
    request.once('connect', (response, socket) => {
      if (response.statusCode === 200) return callback(null, socket)
      socket.destroy()
      callback(new Error('the proxy refused ' + authority + ': ' + response.statusCode + ' ' + response.statusMessage))
    })
    request.once('error', callback)
    request.end()
  }

  function through(Agent, encrypted) {
    const create = Agent.prototype.createConnection
    return class extends Agent {
      createConnection(options, callback) {
        const host = options.host || options.hostname
        if (options.socketPath || direct(host)) return create.call(this, options, callback)
        tunnel(host, options.port, (error, socket) => {
          if (error) return callback(error)
          callback(null, encrypted ? tls.connect({ ...options, socket }) : socket)
        })
      }
    }
  }

  const HttpAgent = through(http.Agent, false)
  const HttpsAgent = through(https.Agent, true)
  http.globalAgent = new HttpAgent({ keepAlive: true, scheduling: 'lifo', timeout: 5000 })
  https.globalAgent = new HttpsAgent({ keepAlive: true, scheduling: 'lifo', timeout: 5000 })

  const original = globalThis.fetch
  if (typeof original !== 'function') return
  let ready = false
  const fetch = function fetch(input, init) {
    if (!ready) {
      ready = true
      route()
    }
    return original(input, init)
  }
  Object.defineProperty(globalThis, 'fetch', { value: fetch, writable: true, configurable: true, enumerable: true })

  // fetch creates its dispatcher when its classes are first used; its class takes a connector.
  function route() {
    const slot = Symbol.for('undici.globalDispatcher.1')
    new Headers()
    original('data:,').catch(() => {})
    const Dispatcher = globalThis[slot] && globalThis[slot].constructor
    if (!Dispatcher) return
    globalThis[slot] = new Dispatcher({
      connect(options, callback) {
        const host = options.hostname
        const encrypted = options.protocol === 'https:'
        const port = options.port || (encrypted ? 443 : 80)
        if (direct(host)) {
          const socket = encrypted
            ? tls.connect({ host, port, servername: options.servername || host, ALPNProtocols: ['http/1.1'] })
            : require('node:net').connect({ host, port })
          return wait(socket, encrypted, callback)
        }
        tunnel(host, port, (error, socket) => {
          if (error) return callback(error)
          if (!encrypted) return callback(null, socket)
          const servername = options.servername || host
          wait(tls.connect({ socket, servername, ALPNProtocols: ['http/1.1'] }), true, callback)
        })
      },
    })
  }

  function wait(socket, encrypted, callback) {
    socket.once('error', callback)
    socket.once(encrypted ? 'secureConnect' : 'connect', () => {
      socket.off('error', callback)
      callback(null, socket)
    })
  }
}
`
