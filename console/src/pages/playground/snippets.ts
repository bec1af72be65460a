/** The request of the playground as code that a customer can use. */
import { gatewayUrl } from '../../base.ts'

export const languages = ['curl', 'python', 'javascript'] as const
export type Language = (typeof languages)[number]
export type Kind = 'chat' | 'image' | 'video'

const paths = { chat: 'chat/completions', image: 'images/generations', video: 'videos' } as const
const calls = { chat: 'chat.completions.create', image: 'images.generate', video: 'videos.create' } as const

type Body = Readonly<Record<string, unknown>>

export type Snippet = {
  readonly language: Language
  readonly kind: Kind
  readonly body: Body
  /** The text of an API key. Undefined for the variable TOLLGATE_KEY. */
  readonly secret: string | undefined
}

export function snippet(of: Snippet): string {
  switch (of.language) {
    case 'curl':
      return curl(of)
    case 'python':
      return python(of)
    case 'javascript':
      return javascript(of)
  }
}

/** What customers put before the paths of the API. */
export const apiUrl = new URL('v1', gatewayUrl).href

function curl({ kind, body, secret = '$TOLLGATE_KEY' }: Snippet): string {
  const json = JSON.stringify(body, undefined, 2).replaceAll("'", String.raw`'\''`)
  return `curl ${apiUrl}/${paths[kind]} \\
  -H "Authorization: Bearer ${secret}" \\
  -H "Content-Type: application/json" \\
  -d '${json}'`
}

function python({ kind, body, secret }: Snippet): string {
  const values = Object.entries(body).map(([name, value]) => `    ${name}=${pythonValue(value)},`)
  const key = secret === undefined ? 'os.environ["TOLLGATE_KEY"]' : JSON.stringify(secret)
  return `${secret === undefined ? 'import os\n' : ''}from openai import OpenAI

client = OpenAI(base_url="${apiUrl}", api_key=${key})
reply = client.${calls[kind]}(
${values.join('\n')}
)
${kind === 'chat' && body['stream'] === true ? PYTHON_STREAM : 'print(reply)'}`
}

const PYTHON_STREAM = `for chunk in reply:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)`

/** Texts in JSON are texts in Python too; only its words differ. */
function pythonValue(value: unknown): string {
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (value === null || value === undefined) return 'None'
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(', ')}]`
  if (typeof value !== 'object') return JSON.stringify(value)
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}: ${pythonValue(member)}`,
  )
  return `{${members.join(', ')}}`
}

function javascript({ kind, body, secret }: Snippet): string {
  const key = secret === undefined ? 'process.env.TOLLGATE_KEY' : `'${secret}'`
  return `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${apiUrl}', apiKey: ${key} })
const reply = await client.${calls[kind]}(${JSON.stringify(body, undefined, 2)})
${kind === 'chat' && body['stream'] === true ? JAVASCRIPT_STREAM : 'console.log(reply)'}`
}

const JAVASCRIPT_STREAM = `for await (const chunk of reply) process.stdout.write(chunk.choices[0]?.delta.content ?? '')`
