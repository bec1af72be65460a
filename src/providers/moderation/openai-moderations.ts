import type { Clock } from '../../gateway/ports/clock.ts'
import type { Moderation, Moderator } from '../../gateway/ports/moderator.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import { failureReason } from '../failure-reason.ts'
import { gather } from '../gather.ts'

/** Every request waits for its verdict, so that a moderator that takes longer is as good as down. */
export const MODERATION_TIMEOUT_MS = 3000
/** A verdict is a few kilobytes for each piece. */
export const VERDICT_BYTES_MAX = 1 << 20

/** A moderator behind an OpenAI-style `POST /moderations`. */
export function openAiModerations(
  { url, key }: { readonly url: string; readonly key: string | undefined },
  { clock }: { readonly clock: Clock },
): Moderator {
  const route = moderationsRoute(url)
  const headers = new Headers({
    'content-type': 'application/json',
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'tollgate',
  })
  if (key !== undefined) headers.set('authorization', `Bearer ${key}`)

  const ask = async (pieces: readonly string[], signal: AbortSignal): Promise<Moderation> => {
    // A short text goes as a string, which every server of this dialect takes.
    const input = pieces.length === 1 ? pieces[0] : pieces
    const body = JSON.stringify({ input })
    const response = await fetch(route, { method: 'POST', headers, body, redirect: 'manual', signal })
    const reader = response.body?.getReader()
    const answer = await gather(async () => (await reader?.read())?.value, VERDICT_BYTES_MAX)
    if (answer === undefined) return unavailable('its answer is too long')
    return response.ok ? readVerdict(answer) : unavailable(`status ${response.status}`)
  }

  return {
    async judge(pieces) {
      const controller = new AbortController()
      const cancel = clock.after(MODERATION_TIMEOUT_MS, () => controller.abort())
      try {
        return await ask(pieces, controller.signal)
      } catch (error) {
        return unavailable(controller.signal.aborted ? 'no answer in time' : failureReason(error))
      } finally {
        cancel()
        // Ends what was not read to its end; changes nothing for the rest.
        controller.abort()
      }
    },
  }
}

/** An address without a path, or with one that ends in a version, is the base of the API and not yet the route. */
export function moderationsRoute(url: string): string {
  const { pathname } = new URL(url)
  return /^\/$|\/v\d+\/?$/.test(pathname) ? `${url.replace(/\/$/, '')}/moderations` : url
}

/** A verdict only where it is plain: one flag that is true, or flags that are all false. */
export function readVerdict(answer: Uint8Array): Moderation {
  const results = findJsonObject(new TextDecoder().decode(answer))?.['results']
  const flags = Array.isArray(results) ? results.map(flagOf) : []
  if (flags.includes(true)) return { verdict: 'flagged' }
  if (flags.length > 0 && flags.every(flag => flag === false)) return { verdict: 'passed' }
  return unavailable('its answer is no verdict')
}

function flagOf(result: unknown): unknown {
  return isJsonObject(result) ? result['flagged'] : undefined
}

function unavailable(problem: string): Moderation {
  return { verdict: 'unavailable', problem }
}
