import type { Moderation, Moderator } from '../../gateway/ports/providers/moderator.ts'
import type { HttpClient } from '../../http1/client/http-client.ts'
import { httpRequest } from '../../http1/client/http-request.ts'
import { readAll } from '../../http1/read-all.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import { failureReason } from '../http/failure-reason.ts'
import { decompressed, readHead } from '../http/read-answer.ts'

/** Every request waits for its verdict, so a moderator that needs longer counts as down. */
export const MODERATION_TIMEOUT_MS = 3000
/** A verdict is a few kilobytes for each piece. */
export const VERDICT_BYTES_MAX = 1 << 20

/** The codes of the HTTP client for a time that is over. */
const timeouts: ReadonlySet<string> = new Set(['CONNECT_TIMEOUT', 'RESPONSE_TIMEOUT'])

/** A moderator behind an OpenAI-style `POST /moderations`. */
export function openAiModerations(
  { url, key }: { readonly url: string; readonly key: string | undefined },
  { http }: { readonly http: HttpClient },
): Moderator {
  const headers = new Headers({
    'content-type': 'application/json',
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'tollgate',
  })
  if (key !== undefined) headers.set('authorization', `Bearer ${key}`)
  const request = httpRequest({ method: 'POST', url: new URL(moderationsRoute(url)), headers })

  const ask = async (pieces: readonly string[]): Promise<Moderation> => {
    // Every server of this dialect accepts a string; not all accept a list.
    const input = pieces.length === 1 ? pieces[0] : pieces
    const response = await http.send(request, {
      body: JSON.stringify({ input }),
      connectTimeoutMs: MODERATION_TIMEOUT_MS,
      timeoutMs: MODERATION_TIMEOUT_MS,
    })
    try {
      const answer = await readAll(decompressed(response, readHead(response, undefined)), VERDICT_BYTES_MAX)
      if (answer === undefined) return unavailable('its answer is too long')
      const isSuccess = response.status >= 200 && response.status < 300
      return isSuccess ? readVerdict(answer) : unavailable(`status ${response.status}`)
    } finally {
      response.cancel()
    }
  }

  return {
    async judge(pieces) {
      try {
        return await ask(pieces)
      } catch (error) {
        const reason = failureReason(error)
        return unavailable(timeouts.has(reason) ? 'no answer in time' : reason)
      }
    },
  }
}

/**
 * A URL without a path, or with a path that ends in a version, is the base of the API; any other URL is the route
 * itself.
 */
export function moderationsRoute(url: string): string {
  const { pathname } = new URL(url)
  return /^\/$|\/v\d+\/?$/.test(pathname) ? `${url.replace(/\/$/, '')}/moderations` : url
}

/** Reads a verdict: at least one flag that is true, or only flags that are false. */
export function readVerdict(answer: Uint8Array): Moderation {
  const results = findJsonObject(new TextDecoder().decode(answer))?.['results']
  const flags = Array.isArray(results) ? results.map(flagOf) : []
  if (flags.includes(true)) return { verdict: 'flagged' }
  if (flags.length > 0 && flags.every(flag => flag === false)) return { verdict: 'passed' }
  return unavailable('its answer contains no verdict')
}

function flagOf(result: unknown): unknown {
  return isJsonObject(result) ? result['flagged'] : undefined
}

function unavailable(problem: string): Moderation {
  return { verdict: 'unavailable', problem }
}
