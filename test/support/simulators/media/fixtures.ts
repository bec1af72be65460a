import { readFileSync } from 'node:fs'
import { jsonReply, type SimulatedReply } from '../simulated-reply.ts'
import type { ErrorAnswer, ErrorName } from './behaviors.ts'

/** A recorded reply of a kind of provider. */
export function fixtureOf(kind: string, name: string): Readonly<Record<string, unknown>> {
  return JSON.parse(fixtureText(kind, name)) as Readonly<Record<string, unknown>>
}

export function fixtureText(kind: string, name: string): string {
  const url = new URL(`../../../../src/providers/${kind}/fixtures/${name}.json`, import.meta.url)
  return readFileSync(url, 'utf8')
}

/** The recorded reply for each error, with the status that it usually has. */
export type ErrorFixtures = Readonly<Record<ErrorName, readonly [status: number, fixture: string]>>

export function errorReply(
  kind: string,
  [usual, fixture]: readonly [status: number, fixture: string],
  { status = usual, retryAfterS }: ErrorAnswer,
): SimulatedReply {
  const headers: Readonly<Record<string, string>> =
    retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }
  return jsonReply(fixtureOf(kind, fixture), status, headers)
}
