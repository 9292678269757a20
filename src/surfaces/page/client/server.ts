/** The way to the server: a token that came in the fragment, kept for this tab alone, sent with every request. */

const KEY = 'cordon-token'

/** Takes the token out of the address, where it would be seen, and gives it back; null when this tab has none. */
export function takeToken(): string | null {
  const given = /^#t=([\w-]{20,})$/.exec(location.hash)?.[1]
  if (given !== undefined) {
    sessionStorage.setItem(KEY, given)
    history.replaceState(null, '', '#/now')
  }
  return sessionStorage.getItem(KEY)
}

function headers(): Record<string, string> {
  return { authorization: `Bearer ${sessionStorage.getItem(KEY) ?? ''}` }
}

/** An answer: its status, and what came with it. */
export interface Reply<Body> {
  readonly status: number
  readonly body: Body & { readonly why?: string }
}

/** Asks for something. */
export async function get<Body>(path: string, query: Readonly<Record<string, string>> = {}): Promise<Reply<Body>> {
  const given = new URLSearchParams(query).toString()
  return reply(await fetch(given === '' ? path : `${path}?${given}`, { headers: headers(), cache: 'no-store' }))
}

/** Does something. */
export async function post<Body>(path: string, body: object): Promise<Reply<Body>> {
  const sent = { ...headers(), 'content-type': 'application/json' }
  return reply(await fetch(path, { method: 'POST', headers: sent, body: JSON.stringify(body) }))
}

async function reply<Body>(answer: Response): Promise<Reply<Body>> {
  return { status: answer.status, body: (await answer.json()) as Body & { why?: string } }
}

/** The lines of the live stream, as they come. */
export async function* live(signal: AbortSignal): AsyncGenerator<unknown> {
  const answer = await fetch('/api/live', { headers: headers(), signal, cache: 'no-store' })
  if (!answer.ok || !answer.body) throw new Error(String(answer.status))
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    const lines = (rest + value).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') yield JSON.parse(line) as unknown
  }
}
