/** A model of random weights in llama.cpp's own format: less than a megabyte that speaks every protocol, and says nothing. */

const EMBEDDING = 64
const FEED_FORWARD = 128
const HEADS = 2
const CONTEXT = 131_072

const TYPES = { u32: 4, f32: 6, bool: 7, string: 8, array: 9, i32: 5 } as const

type Value =
  | { readonly type: 'u32' | 'f32' | 'i32'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'array'; readonly of: 'string' | 'f32' | 'i32'; readonly values: readonly (string | number)[] }

interface Tensor {
  readonly name: string
  readonly size: readonly number[]
}

export const END_TOKEN = 2
/** What begins a call is one token, so that a server can be reported to like it. */
export const CALL_TOKEN = 3
/** The quote, which ends a text of JSON. */
export const QUOTE_TOKEN: number = CALL_TOKEN + 1 + 0x22
const CALL = '<tool_call>'

/** The same bytes for the same seed and sample; the sample is a text like those that it will read. */
export function randomModel(seed: number, sample: string): Buffer {
  const { tokens, scores, kinds } = vocabulary(sample)
  const values: Readonly<Record<string, Value>> = {
    'general.architecture': { type: 'string', value: 'llama' },
    'general.name': { type: 'string', value: 'random' },
    'llama.context_length': { type: 'u32', value: CONTEXT },
    'llama.embedding_length': { type: 'u32', value: EMBEDDING },
    'llama.block_count': { type: 'u32', value: 1 },
    'llama.feed_forward_length': { type: 'u32', value: FEED_FORWARD },
    'llama.attention.head_count': { type: 'u32', value: HEADS },
    'llama.attention.head_count_kv': { type: 'u32', value: HEADS },
    'llama.attention.layer_norm_rms_epsilon': { type: 'f32', value: 1e-5 },
    'llama.rope.dimension_count': { type: 'u32', value: EMBEDDING / HEADS },
    'llama.vocab_size': { type: 'u32', value: tokens.length },
    'tokenizer.ggml.model': { type: 'string', value: 'llama' },
    'tokenizer.ggml.tokens': { type: 'array', of: 'string', values: tokens },
    'tokenizer.ggml.scores': { type: 'array', of: 'f32', values: scores },
    'tokenizer.ggml.token_type': { type: 'array', of: 'i32', values: kinds },
    'tokenizer.ggml.unknown_token_id': { type: 'u32', value: 0 },
    'tokenizer.ggml.bos_token_id': { type: 'u32', value: 1 },
    'tokenizer.ggml.eos_token_id': { type: 'u32', value: END_TOKEN },
    'tokenizer.ggml.add_bos_token': { type: 'bool', value: true },
    'tokenizer.ggml.add_space_prefix': { type: 'bool', value: false },
    'tokenizer.chat_template': { type: 'string', value: TEMPLATE },
  }
  return written(values, tensorsOf(tokens.length), numbersFrom(seed))
}

/** As many models have it: tools in the first message, calls as JSON between two tags. The server reads from it how calls look. */
const TEMPLATE = `{%- if tools %}
<|im_start|>system
{%- if messages[0].role == 'system' %}
{{ messages[0].content }}
{%- endif %}
<tools>
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}
</tools>
<tool_call>{"name": <function-name>, "arguments": <args-json-object>}</tool_call><|im_end|>
{%- elif messages[0].role == 'system' %}
<|im_start|>system
{{ messages[0].content }}<|im_end|>
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'user' %}
<|im_start|>user
{{ message.content }}<|im_end|>
{%- elif message.role == 'assistant' %}
<|im_start|>assistant
{%- if message.content %}
{{ message.content }}
{%- endif %}
{%- for tool_call in message.tool_calls %}
<tool_call>{"name": "{{ tool_call.function.name }}", "arguments": {{ tool_call.function.arguments | tojson }}}</tool_call>
{%- endfor %}<|im_end|>
{%- elif message.role == 'tool' %}
<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
<|im_start|>assistant
{% endif %}`

/** Every byte is a token, so that every text can be read and every character written; words of the sample take fewer. */
function vocabulary(sample: string): { tokens: string[]; scores: number[]; kinds: number[] } {
  const [normal, unknown, control, defined, byte] = [1, 2, 3, 4, 6]
  const bytes = Array.from({ length: 256 }, (_, value) => `<0x${value.toString(16).toUpperCase().padStart(2, '0')}>`)
  const words = pairsOf(sample)
  return {
    tokens: ['<unk>', '<s>', '</s>', CALL, ...bytes, BLANK, ...words],
    scores: [0, 0, 0, 0, ...bytes.map(() => 0), 0, ...words.map((_, rank) => -rank)],
    kinds: [unknown, control, control, defined, ...bytes.map(() => byte), normal, ...words.map(() => normal)],
  }
}

/** The signs for a blank in such vocabularies. */
const BLANK = '\u2581'
const WORDS = 1000

/** The pairs that are joined, the most frequent first (byte pair encoding). */
function pairsOf(sample: string): string[] {
  let pieces = [...sample.replaceAll(' ', BLANK)].filter((char) => char === BLANK || (char > ' ' && char <= '~'))
  const joined: string[] = []
  while (joined.length < WORDS) {
    const counts = new Map<string, number>()
    for (let at = 1; at < pieces.length; at++) {
      const pair = pieces[at - 1]! + pieces[at]!
      counts.set(pair, (counts.get(pair) ?? 0) + 1)
    }
    const [best, count] = [...counts].reduce((most, one) => (one[1] > most[1] ? one : most), ['', 1])
    if (count < 2) break
    if (!joined.includes(best)) joined.push(best)
    const next: string[] = []
    for (let at = 0; at < pieces.length; at++) {
      const pair = pieces[at]! + (pieces[at + 1] ?? '')
      if (pair === best && at + 1 < pieces.length) at++
      next.push(pair === best ? pair : pieces[at]!)
    }
    pieces = next
  }
  return joined
}

function tensorsOf(words: number): readonly Tensor[] {
  const block = (name: string, ...size: number[]): Tensor => ({ name: `blk.0.${name}.weight`, size })
  return [
    { name: 'token_embd.weight', size: [EMBEDDING, words] },
    { name: 'output_norm.weight', size: [EMBEDDING] },
    { name: 'output.weight', size: [EMBEDDING, words] },
    block('attn_norm', EMBEDDING),
    block('attn_q', EMBEDDING, EMBEDDING),
    block('attn_k', EMBEDDING, EMBEDDING),
    block('attn_v', EMBEDDING, EMBEDDING),
    block('attn_output', EMBEDDING, EMBEDDING),
    block('ffn_norm', EMBEDDING),
    block('ffn_gate', EMBEDDING, FEED_FORWARD),
    block('ffn_up', EMBEDDING, FEED_FORWARD),
    block('ffn_down', FEED_FORWARD, EMBEDDING),
  ]
}

const ALIGNMENT = 32

function written(values: Readonly<Record<string, Value>>, tensors: readonly Tensor[], next: () => number): Buffer {
  const parts: Buffer[] = [Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(Object.keys(values).length)]
  for (const [name, value] of Object.entries(values)) parts.push(text(name), u32(TYPES[value.type]), bytesOf(value))
  let offset = 0
  for (const { name, size } of tensors) {
    parts.push(text(name), u32(size.length), ...size.map(u64), u32(0), u64(offset))
    offset += padded(countOf(size) * 4)
  }
  const head = Buffer.concat(parts)
  const data = tensors.map(({ name, size }) => {
    const bytes = Buffer.alloc(padded(countOf(size) * 4))
    const isNorm = name.includes('norm')
    for (let at = 0; at < countOf(size); at++) bytes.writeFloatLE(isNorm ? 1 : next() * 2 - 1, at * 4)
    return bytes
  })
  return Buffer.concat([head, Buffer.alloc(padded(head.length) - head.length), ...data])
}

function countOf(size: readonly number[]): number {
  return size.reduce((product, side) => product * side, 1)
}

function padded(size: number): number {
  return Math.ceil(size / ALIGNMENT) * ALIGNMENT
}

function bytesOf(value: Value): Buffer {
  switch (value.type) {
    case 'bool':
      return Buffer.from([value.value ? 1 : 0])
    case 'string':
      return text(value.value)
    case 'array': {
      const entries = value.values.map((one) => (typeof one === 'string' ? text(one) : number(value.of, one)))
      return Buffer.concat([u32(TYPES[value.of]), u64(entries.length), ...entries])
    }
    default:
      return number(value.type, value.value)
  }
}

function number(type: string, value: number): Buffer {
  const bytes = Buffer.alloc(4)
  if (type === 'f32') bytes.writeFloatLE(value)
  else if (type === 'i32') bytes.writeInt32LE(value)
  else bytes.writeUInt32LE(value)
  return bytes
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([u64(bytes.length), bytes])
}

function u32(value: number): Buffer {
  return number('u32', value)
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}

/** Numbers between 0 and 1 (mulberry32). */
function numbersFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
