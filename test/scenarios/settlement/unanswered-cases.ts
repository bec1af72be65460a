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
} from '../../support/upstream-replies.ts'
import { alike, USUAL, type SettlementCase } from './settlement-case.ts'

const REFUSED = 'Refused by the gateway (400, 401, 402, 404, 413)'
const GIVEN_ON = 'Refused by the upstream for the client’s own mistake (other 4xx)'
const FAILED = 'Not answered by the upstream (502, 429)'

const refused = alike({ row: REFUSED, told: null, asked: 0 }, [
  {
    title: 'a field that is wrong',
    request: { max_tokens: 0 },
    refused: { status: 400, code: 'invalid_field' },
  },
  { title: 'an unknown key', key: 'tg_live_nobody', refused: { status: 401, code: 'invalid_api_key' } },
  { title: 'an empty balance', grant: '0', refused: { status: 402, code: 'insufficient_balance' } },
  { title: 'an unknown model', model: 'gpt-y', refused: { status: 404, code: 'model_not_found' } },
  {
    title: 'a body over the limit',
    request: { x: 'x'.repeat(1 << 20) },
    refused: { status: 413, code: 'request_too_large' },
  },
])

const givenOn: readonly SettlementCase[] = [400, 405, 409, 413, 415, 422, 451].map(status => ({
  row: GIVEN_ON,
  title: `status ${status}`,
  reply: json({ error: { message: 'No.', type: 'invalid_request_error', code: 'no' } }, { status }),
  refused: { status, code: 'no' },
  told: null,
}))

const failures = alike({ row: FAILED, told: null, refused: { status: 502, code: 'upstream_error' } }, [
  { title: 'nobody listening', model: 'gone', asked: 0 },
  { title: 'a connection that is reset', reply: resetBeforeHeaders() },
  { title: 'a connection that is closed', reply: closeBeforeHeaders() },
  { title: 'an answer that is reset', reply: resetAfterHeaders() },
  { title: 'an answer shorter than it says', reply: shortBody('{"choices":[]}') },
  { title: 'an answer of broken chunks', reply: badChunk() },
  { title: 'an answer whose last chunk never comes', reply: cutChunked(['{"choices":[],"usage":{}}']) },
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
    told: null,
  },
  {
    row: 'Not answered in time (504), and nothing ever comes',
    title: 'an upstream that says nothing for 300 s',
    play: async ({ upstream, clock }, ask) => {
      const taken = upstream.hold()
      const asked = ask()
      await taken
      clock.advance(300_000)
      return asked
    },
    refused: { status: 504, code: 'upstream_timeout' },
    told: null,
  },
  {
    row: 'Answered, and the client has left',
    title: 'a client that leaves while the upstream works',
    play: async ({ upstream, url }, ask) => {
      const taken = upstream.hold()
      const leaving = new AbortController()
      const asked = ask(leaving.signal).catch(() => undefined)
      const exchange = await taken
      leaving.abort()
      await asked
      // By the time this has its answer the server has seen the other connection close.
      await fetch(`${url}/health/live`)
      await chatAnswer()(exchange)
      return undefined
    },
    told: USUAL,
  },
]

/** There was no answer, or nobody to take it. */
export const unansweredCases: readonly SettlementCase[] = [...refused, ...givenOn, ...failures, ...late]
