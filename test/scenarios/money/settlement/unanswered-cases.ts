import {
  answer,
  badChunk,
  chatAnswer,
  closeBeforeHeaders,
  cutChunked,
  html,
  json,
  redirect,
  resetAfterHeaders,
  resetBeforeHeaders,
  shortBody,
} from '../../../support/upstream-replies.ts'
import { alike, USUAL, type SettlementCase } from './settlement-case.ts'

const REFUSED = 'Refused by the gateway (400, 401, 402, 404, 413)'
const REFUSED_BY_PROVIDER = 'Refused by the provider (other 4xx)'
const FAILED = 'Provider failed (502, 429)'

const refused = alike({ row: REFUSED, costInReply: null, asked: 0 }, [
  {
    title: 'an invalid field',
    request: { max_tokens: 0 },
    refused: { status: 400, code: 'invalid_field' },
  },
  { title: 'an unknown key', key: 'tg_live_unknown', refused: { status: 401, code: 'invalid_api_key' } },
  { title: 'an empty balance', grant: '0', refused: { status: 402, code: 'insufficient_balance' } },
  { title: 'an unknown model', model: 'gpt-y', refused: { status: 404, code: 'model_not_found' } },
  {
    title: 'a body over the limit',
    request: { x: 'x'.repeat(1 << 20) },
    refused: { status: 413, code: 'request_too_large' },
  },
])

const refusedByProvider: readonly SettlementCase[] = [400, 405, 409, 413, 415, 422, 451].map(status => ({
  row: REFUSED_BY_PROVIDER,
  title: `status ${status}`,
  reply: json({ error: { message: 'No.', type: 'invalid_request_error', code: 'no' } }, { status }),
  refused: { status, code: 'no' },
  costInReply: null,
}))

const failures = alike({ row: FAILED, costInReply: null, refused: { status: 502, code: 'upstream_error' } }, [
  { title: 'a refused connection', model: 'gone', asked: 0 },
  { title: 'a reset connection', reply: resetBeforeHeaders() },
  { title: 'a closed connection', reply: closeBeforeHeaders() },
  { title: 'a connection reset in the middle of the answer', reply: resetAfterHeaders() },
  { title: 'an answer shorter than its content-length', reply: shortBody('{"choices":[]}') },
  { title: 'malformed chunks', reply: badChunk() },
  { title: 'a missing last chunk', reply: cutChunked(['{"choices":[],"usage":{}}']) },
  { title: 'a page of HTML', reply: html() },
  { title: 'an empty body', reply: answer('') },
  { title: 'broken JSON', reply: answer('{"choices":[{"mess') },
  { title: 'an array', reply: json([{ choices: [] }]) },
  {
    title: 'an answer without choices',
    reply: json({ object: 'chat.completion', usage: { prompt_tokens: 9 } }),
  },
  { title: 'an error in a 200', reply: json({ error: { message: 'overloaded' } }) },
  { title: 'a redirect', reply: redirect('http://127.0.0.1:9/elsewhere') },
  ...[401, 402, 403, 404, 500, 502, 503, 529].map(status => ({
    title: `status ${status}`,
    reply: json({ error: { message: 'No.' } }, { status }),
  })),
])

const late: readonly SettlementCase[] = [
  {
    row: FAILED,
    title: 'status 429',
    reply: json({ error: { message: 'Slow down.' } }, { status: 429 }),
    refused: { status: 429, code: 'rate_limited' },
    costInReply: null,
  },
  {
    row: 'Timed out (504), no late answer',
    title: 'an upstream that sends nothing for 300 s',
    play: async ({ upstream, clock }, ask) => {
      const taken = upstream.hold()
      const asked = ask()
      await taken
      clock.advance(300_000)
      return asked
    },
    refused: { status: 504, code: 'upstream_timeout' },
    costInReply: null,
  },
  {
    row: 'Client disconnected',
    title: 'a client that disconnects while the upstream works',
    play: async ({ upstream, url }, ask) => {
      const taken = upstream.hold()
      const controller = new AbortController()
      const asked = ask(controller.signal).catch(() => undefined)
      const exchange = await taken
      controller.abort()
      await asked
      // When this request is answered, the server has seen the other connection close.
      await fetch(`${url}/health/live`)
      await chatAnswer()(exchange)
      return undefined
    },
    costInReply: USUAL,
  },
]

/** The upstream did not answer, or the client got no answer. */
export const unansweredCases: readonly SettlementCase[] = [
  ...refused,
  ...refusedByProvider,
  ...failures,
  ...late,
]
