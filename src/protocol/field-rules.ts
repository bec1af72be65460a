import { EACH_ITEM, type FieldRule, type Scalar } from '../domain/catalog/field-rule.ts'
import { GatewayError } from '../domain/errors.ts'
import { ItemWalk, MemberWalk, keyOf } from './json/json-text.ts'
import { folded } from './request-fields.ts'

/**
 * A rule whose field, or an object or array around it, is at the current place: `step` is the next step of its path.
 */
type Open = { readonly rule: FieldRule; readonly step: number }

/** The place of a value in the text, and its path as the client knows it: `tools[1].type`. */
type Place = { readonly start: number; readonly end: number; readonly path: string }

/**
 * The error for the first field of a request that a rule does not allow; undefined if all are allowed. `text` is a JSON
 * object as a provider gets it. A field that is absent or null is allowed. A name that repeats, or that is spelled
 * differently, is not, because the provider's parser could read a value that was not checked here.
 */
export function findRefusedField(rules: readonly FieldRule[], text: string): GatewayError | undefined {
  const start = text.indexOf('{')
  const open = rules.map(rule => ({ rule, step: 0 }))
  return inObject(text, { start, end: text.length, path: '' }, open)
}

function inObject(text: string, place: Place, rules: readonly Open[]): GatewayError | undefined {
  const byName = Map.groupBy(rules, open => folded(nameOf(open)))
  const found = new Set<string>()
  for (const walk = new MemberWalk(text, place.start); walk.next();) {
    const key = keyOf(text, walk)
    const name = folded(key)
    const alike = byName.get(name)
    if (alike === undefined) continue
    const matching = alike.filter(open => nameOf(open) === key)
    const path = join(place.path, nameOf(matching[0] ?? (alike[0] as Open)))
    if (matching.length === 0)
      return ambiguous(path, `Some parsers read ${JSON.stringify(key)} as "${path}", and others do not`)
    if (found.has(name)) return ambiguous(path, `"${path}" is in the body more than once`)
    found.add(name)
    const problem = atValue(text, { start: walk.start, end: walk.end, path }, matching)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Checks a value whose path so far is that of these rules. */
function atValue(text: string, place: Place, reached: readonly Open[]): GatewayError | undefined {
  const first = text.charAt(place.start)
  const isContainer = first === '{' || first === '['
  const value = isContainer ? undefined : (JSON.parse(text.slice(place.start, place.end)) as Scalar | null)
  const deeper: Open[] = []
  for (const { rule, step } of reached) {
    const open = { rule, step: step + 1 }
    if (open.step < rule.steps.length) {
      // A scalar has no parts. A container of the other kind could be read by a tolerant provider.
      if (isContainer && (nameOf(open) === EACH_ITEM) !== (first === '[')) return misshapen(place.path)
      deeper.push(open)
    } else if (value !== null && (value === undefined || !rule.allowed.includes(value)))
      return unpriced(place.path, rule.allowed)
  }
  if (!isContainer || deeper.length === 0) return undefined
  return first === '{' ? inObject(text, place, deeper) : inArray(text, place, deeper)
}

function inArray(text: string, { start, path }: Place, rules: readonly Open[]): GatewayError | undefined {
  const walk = new ItemWalk(text, start)
  for (let index = 0; walk.next(); index += 1) {
    const item = { start: walk.start, end: walk.end, path: `${path}[${index}]` }
    const problem = atValue(text, item, rules)
    if (problem !== undefined) return problem
  }
  return undefined
}

function nameOf({ rule, step }: Open): string {
  return rule.steps[step] as string
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

function unpriced(param: string, allowed: readonly Scalar[]): GatewayError {
  const words = allowed.map(value => JSON.stringify(value)).join(', ')
  const message =
    allowed.length === 0
      ? `"${param}" has no price for this model. Leave it out.`
      : `"${param}" must be ${allowed.length === 1 ? words : `one of ${words}`}, or absent: other values have no price.`
  return new GatewayError('unpriced_feature', message, { param })
}

function misshapen(param: string): GatewayError {
  const message = `"${param}" is an object in place of an array, or the other way round, so it cannot be priced.`
  return new GatewayError('unpriced_feature', message, { param })
}

function ambiguous(param: string, reason: string): GatewayError {
  const message = `${reason}. Send "${param}" once, with exactly this spelling, or leave it out.`
  return new GatewayError('unpriced_feature', message, { param })
}
