import { BillProblem, problemAt, type Written } from './bill.ts'

/** A JSON value with its line. A number keeps its digits, because it may be more precise than a float. */
export type JsonValue = { readonly line: number } & (
  | { readonly kind: 'number' | 'string' | 'word'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly JsonValue[] }
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, JsonValue> }
)

export type JsonObject = Extract<JsonValue, { kind: 'object' }>

/** Reads a JSON document. Throws a `BillProblem` if it is not valid. */
export function readJson(text: string): JsonValue {
  try {
    JSON.parse(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new BillProblem(`is not valid JSON: ${reason}`)
  }
  return valueAt(new Tokens(text))
}

/** The member of an object; undefined if it has none, or null. */
export function memberOf(object: JsonObject, name: string): JsonValue | undefined {
  const value = object.members.get(name)
  return value?.kind === 'word' && value.text === 'null' ? undefined : value
}

/** The text of a string member; undefined if it is absent or null. */
export function stringMember(object: JsonObject, name: string): string | undefined {
  const value = memberOf(object, name)
  return value?.kind === 'string' ? value.text : undefined
}

/** A number, also one that is written as a string. Throws a `BillProblem` for anything else. */
export function numberOf(object: JsonObject, name: string): Written {
  const value = memberOf(object, name)
  if (value?.kind === 'number' || value?.kind === 'string') return value
  throw problemAt(value?.line ?? object.line, `"${name}" must be a number.`)
}

/** The objects of a list. Throws a `BillProblem` for anything else. */
export function objectsOf(object: JsonObject, name: string): readonly JsonObject[] {
  const list = memberOf(object, name)
  if (list?.kind !== 'list') throw problemAt(list?.line ?? object.line, `"${name}" must be a list.`)
  return list.items.map(item => {
    if (item.kind !== 'object') throw problemAt(item.line, `"${name}" must be a list of objects.`)
    return item
  })
}

/** Walks a text that is known to be valid JSON. */
class Tokens {
  readonly #pattern = /\s*("(?:[^"\\]|\\.)*"|[^\s,:[\]{}"]+|[,:[\]{}])/y
  readonly #text: string
  line = 1

  constructor(text: string) {
    this.#text = text
  }

  next(): string {
    const [all = '', token = ''] = this.#pattern.exec(this.#text) ?? []
    for (let at = all.indexOf('\n'); at !== -1; at = all.indexOf('\n', at + 1)) this.line += 1
    return token
  }
}

function valueAt(tokens: Tokens, token = tokens.next()): JsonValue {
  const { line } = tokens
  if (token === '{') return { kind: 'object', members: membersAt(tokens), line }
  if (token === '[') return { kind: 'list', items: itemsAt(tokens), line }
  if (token.startsWith('"')) return { kind: 'string', text: JSON.parse(token) as string, line }
  return { kind: /^[-\d]/.test(token) ? 'number' : 'word', text: token, line }
}

function membersAt(tokens: Tokens): ReadonlyMap<string, JsonValue> {
  const members = new Map<string, JsonValue>()
  for (let token = tokens.next(); token !== '}'; token = tokens.next()) {
    const key = token === ',' ? tokens.next() : token
    tokens.next()
    members.set(JSON.parse(key) as string, valueAt(tokens))
  }
  return members
}

function itemsAt(tokens: Tokens): readonly JsonValue[] {
  const items: JsonValue[] = []
  for (let token = tokens.next(); token !== ']'; token = tokens.next())
    if (token !== ',') items.push(valueAt(tokens, token))
  return items
}
