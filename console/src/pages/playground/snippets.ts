/** The request of the playground as code that a customer can use. */
import { gatewayUrl } from '../../base.ts'

export const languages = ['curl', 'python', 'javascript'] as const
export type Language = (typeof languages)[number]
export type Kind = 'chat' | 'image' | 'video'

const paths = { chat: 'chat/completions', image: 'images/generations', video: 'videos' } as const
const calls = { chat: 'chat.completions.create', image: 'images.generate', video: 'videos.create' } as const

type Body = Readonly<Record<string, unknown>>

export function snippet(language: Language, kind: Kind, body: Body): string {
  switch (language) {
    case 'curl':
      return curl(kind, body)
    case 'python':
      return python(kind, body)
    case 'javascript':
      return javascript(kind, body)
  }
}

const base = new URL('v1', gatewayUrl).href

function curl(kind: Kind, body: Body): string {
  const json = JSON.stringify(body, undefined, 2).replaceAll("'", String.raw`'\''`)
  return `curl ${base}/${paths[kind]} \\
  -H "Authorization: Bearer $TOLLGATE_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${json}'`
}

function python(kind: Kind, body: Body): string {
  const values = Object.entries(body).map(([name, value]) => `    ${name}=${pythonValue(value)},`)
  return `import os
from openai import OpenAI

client = OpenAI(base_url="${base}", api_key=os.environ["TOLLGATE_KEY"])
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

function javascript(kind: Kind, body: Body): string {
  return `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${base}', apiKey: process.env.TOLLGATE_KEY })
const reply = await client.${calls[kind]}(${JSON.stringify(body, undefined, 2)})
${kind === 'chat' && body['stream'] === true ? JAVASCRIPT_STREAM : 'console.log(reply)'}`
}

const JAVASCRIPT_STREAM = `for await (const chunk of reply) process.stdout.write(chunk.choices[0]?.delta.content ?? '')`
