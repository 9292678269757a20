/** A server with all that the conformance suite asks a server for, over stdio: what it can show is the measure for the gateway before it. */

import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA='
const image = { type: 'image', data: PIXEL, mimeType: 'image/png' }
const text = (value: string) => ({ type: 'text', text: value })
const resource = (uri: string, mimeType: string, value: string) => ({
  type: 'resource',
  resource: { uri, mimeType, text: value },
})
const wait = () => new Promise((resolve) => setTimeout(resolve, 50))
const NOTHING = { type: 'object', properties: {} }
const says = (name: string) => ({ type: 'object', properties: { [name]: { type: 'string' } }, required: [name] })
const choices = (kind: 'oneOf' | 'anyOf') => ({
  [kind]: [
    { const: 'value1', title: 'First' },
    { const: 'value2', title: 'Second' },
    { const: 'value3', title: 'Third' },
  ],
})
const OPTIONS = ['option1', 'option2', 'option3']

const DEFAULTS = {
  type: 'object',
  properties: {
    name: { type: 'string', description: 'A name', default: 'John Doe' },
    age: { type: 'integer', description: 'An age', default: 30 },
    score: { type: 'number', description: 'A score', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', description: 'Whether it was verified', default: true },
  },
  required: [],
}
const ENUMS = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: OPTIONS },
    titledSingle: { type: 'string', ...choices('oneOf') },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: OPTIONS } },
    titledMulti: { type: 'array', items: choices('anyOf') },
  },
  required: [],
}
const USER = {
  type: 'object',
  properties: {
    username: { type: 'string', description: 'A name' },
    email: { type: 'string', description: 'An address' },
  },
  required: ['username', 'email'],
}
const SCHEMA_2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
  properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
  additionalProperties: false,
}

const TOOLS: Readonly<Record<string, object>> = {
  test_simple_text: NOTHING,
  test_image_content: NOTHING,
  test_audio_content: NOTHING,
  test_embedded_resource: NOTHING,
  test_multiple_content_types: NOTHING,
  test_tool_with_logging: NOTHING,
  test_tool_with_progress: NOTHING,
  test_error_handling: NOTHING,
  test_reconnection: NOTHING,
  test_sampling: says('prompt'),
  test_elicitation: says('message'),
  test_elicitation_sep1034_defaults: NOTHING,
  test_elicitation_sep1330_enums: NOTHING,
  json_schema_2020_12_tool: SCHEMA_2020,
}
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  test_simple_prompt: [],
  test_prompt_with_arguments: ['arg1', 'arg2'],
  test_prompt_with_embedded_resource: ['resourceUri'],
  test_prompt_with_image: [],
}
const CONTENTS: Readonly<Record<string, object>> = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: PIXEL },
  'test://watched-resource': { mimeType: 'text/plain', text: 'watched' },
}

const server = new Server(
  { name: 'conformance-server', version: '1.0.0' },
  { capabilities: { tools: {}, prompts: {}, resources: { subscribe: true }, logging: {}, completions: {} } },
)

type Words = Readonly<Record<string, string>>

async function elicit(message: string, requestedSchema: object): Promise<string> {
  const { action, content } = await server.request(
    { method: 'elicitation/create', params: { message, requestedSchema } } as never,
    ElicitResultSchema,
  )
  return `action=${action}, content=${JSON.stringify(content ?? {})}`
}

async function call(name: string, words: Words, token: string | number | undefined): Promise<object> {
  switch (name) {
    case 'test_simple_text':
      return { content: [text('This is a simple text response for testing.')] }
    case 'test_image_content':
      return { content: [image] }
    case 'test_audio_content':
      return { content: [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }] }
    case 'test_embedded_resource':
      return {
        content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
      }
    case 'test_multiple_content_types':
      return {
        content: [
          text('Multiple content types test:'),
          image,
          resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
        ],
      }
    case 'test_tool_with_logging':
      for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await server.sendLoggingMessage({ level: 'info', data })
        await wait()
      }
      return { content: [text('logged')] }
    case 'test_tool_with_progress':
      for (const progress of [0, 50, 100]) {
        if (token !== undefined)
          await server.notification({
            method: 'notifications/progress',
            params: { progressToken: token, progress, total: 100 },
          })
        await wait()
      }
      return { content: [text('done')] }
    case 'test_error_handling':
      return { isError: true, content: [text('This tool intentionally returns an error for testing')] }
    case 'test_reconnection':
      return { content: [text('Reconnection test completed')] }
    case 'test_sampling': {
      const messages = [{ role: 'user', content: text(words.prompt ?? '') }]
      const params = { messages, maxTokens: 100 }
      const { content } = await server.request(
        { method: 'sampling/createMessage', params } as never,
        CreateMessageResultSchema,
      )
      return { content: [text(`LLM response: ${'text' in content ? content.text : ''}`)] }
    }
    case 'test_elicitation':
      return { content: [text(`User response: ${await elicit(words.message ?? '', USER)}`)] }
    case 'test_elicitation_sep1034_defaults':
      return { content: [text(`Elicitation completed: ${await elicit('Please say who you are', DEFAULTS)}`)] }
    case 'test_elicitation_sep1330_enums':
      return { content: [text(`Elicitation completed: ${await elicit('Please choose', ENUMS)}`)] }
    default:
      return { content: [text(`called ${name}`)] }
  }
}

function prompt(name: string, words: Words): object[] {
  const says = (content: object) => ({ role: 'user', content })
  switch (name) {
    case 'test_simple_prompt':
      return [says(text('This is a simple prompt for testing.'))]
    case 'test_prompt_with_arguments':
      return [says(text(`Prompt with arguments: arg1='${words.arg1}', arg2='${words.arg2}'`))]
    case 'test_prompt_with_embedded_resource':
      return [
        says(resource(words.resourceUri ?? '', 'text/plain', 'Embedded resource content for testing.')),
        says(text('Please process the embedded resource above.')),
      ]
    default:
      return [says(image), says(text('Please analyze the image above.'))]
  }
}

function read(uri: string): object {
  const id = /^test:\/\/template\/(.+)\/data$/.exec(uri)?.[1]
  if (id === undefined) return { uri, ...CONTENTS[uri] }
  const value = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` })
  return { uri, mimeType: 'application/json', text: value }
}

server.setRequestHandler(ListToolsRequestSchema, (() => ({
  tools: Object.entries(TOOLS).map(([name, inputSchema]) => ({ name, description: `The tool ${name}`, inputSchema })),
})) as never)
server.setRequestHandler(CallToolRequestSchema, (({ params }: never) => {
  const {
    name,
    arguments: words = {},
    _meta,
  } = params as { name: string; arguments?: Words; _meta?: { progressToken?: string } }
  return call(name, words, _meta?.progressToken)
}) as never)
server.setRequestHandler(ListPromptsRequestSchema, () => ({
  prompts: Object.entries(ARGUMENTS).map(([name, names]) => ({
    name,
    description: `The prompt ${name}`,
    arguments: names.map((argument) => ({ name: argument, description: `The argument ${argument}`, required: true })),
  })),
}))
server.setRequestHandler(GetPromptRequestSchema, (({ params }: { params: { name: string; arguments?: Words } }) => ({
  messages: prompt(params.name, params.arguments ?? {}),
})) as never)
server.setRequestHandler(ListResourcesRequestSchema, () => ({
  resources: Object.keys(CONTENTS).map((uri) => ({ uri, name: uri.slice(7), description: `The resource ${uri}` })),
}))
server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
  resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template', description: 'A template' }],
}))
server.setRequestHandler(ReadResourceRequestSchema, (({ params }: { params: { uri: string } }) => ({
  contents: [read(params.uri)],
})) as never)
server.setRequestHandler(SubscribeRequestSchema, () => ({}))
server.setRequestHandler(UnsubscribeRequestSchema, () => ({}))
server.setRequestHandler(SetLevelRequestSchema, () => ({}))
server.setRequestHandler(CompleteRequestSchema, () => ({
  completion: { values: ['paris', 'park'], total: 2, hasMore: false },
}))
await server.connect(new StdioServerTransport())
