import { expect, test } from 'bun:test'
import { rejection } from '../../../test/support/rejection.ts'
import { sentText } from '../../../test/support/sent-text.ts'
import { chatDialect } from '../../protocol/chat/dialect.ts'
import { responsesDialect } from '../../protocol/responses/dialect.ts'
import { DisconnectSignal } from '../text/disconnect-signal.ts'
import type { TextCall } from '../text/text-call.ts'
import type { TextResult } from '../text/text-result.ts'
import { InFlightRequest, laggedReaderError } from './in-flight-request.ts'

const answer: TextResult = {
  kind: 'answer',
  model: 'm',
  contentType: 'application/json',
  body: '{}',
  rateLimits: [],
  retryAfter: undefined,
  usage: null,
  cost: null,
}

test('a settled request shares its answer until it ends', async () => {
  const follower = { signal: new DisconnectSignal() }
  const request = new InFlightRequest({ signal: new DisconnectSignal() })

  request.settle(() => answer)
  const shared = await request.join(follower)
  request.end()

  expect(shared).toBe(answer)
  expect(await request.join(follower)).toBeUndefined()
})

test('the end of a request ends the wait of its followers', async () => {
  const request = new InFlightRequest({ signal: new DisconnectSignal() })
  const joined = request.join({ signal: new DisconnectSignal() })

  request.end()

  expect(await joined).toBeUndefined()
})

test('the call continues until the leader and all followers have disconnected', async () => {
  const leader = { signal: new DisconnectSignal() }
  const follower = { signal: new DisconnectSignal() }
  const request = new InFlightRequest(leader)
  const { signal } = request
  const joined = rejection(request.join(follower))

  leader.signal.fire()
  const afterLeader = signal.aborted
  follower.signal.fire()

  expect([afterLeader, signal.aborted]).toEqual([false, true])
  expect(await joined).toMatchObject({ code: 'upstream_error' })
})

const decoder = new TextDecoder()

function aCall(body: object): TextCall {
  const ada = {
    id: 1,
    publicId: 'acct_1',
    name: 'ada',
    sandboxOnly: false,
    createdAtMs: 0,
    suspendedAtMs: null,
  }
  const apiKey = {
    id: 1,
    publicId: 'key_1',
    accountId: 1,
    name: 'default',
    prefix: 'tg_live_abcd',
    secrets: [],
    createdAtMs: 0,
    revokedAtMs: null,
    disabledAtMs: null,
    lastUsedDay: null,
  }
  return {
    id: { key: 1n, tail: 2n },
    caller: { account: ada, apiKey },
    body: sentText(JSON.stringify(body)),
    client: { signal: new AbortController().signal },
    record: {},
  }
}

test('a dropped follower of a chat stream gets an error and no [DONE]', () => {
  const call = aCall({ model: 'gpt-x', messages: [], stream: true })

  const last = decoder.decode(laggedReaderError(call, chatDialect, 0))

  expect(last).toStartWith('\n\ndata: {"error":{')
  expect(last).toContain('"code":"unavailable"')
  expect(last).not.toContain('[DONE]')
})

test('a dropped follower of a responses stream gets a failed response', () => {
  const call = aCall({ model: 'gpt-x', input: 'Hi', stream: true })

  const last = decoder.decode(laggedReaderError(call, responsesDialect, 0))

  expect(last).toStartWith('\n\nevent: response.failed\ndata: {')
  expect(last).toContain('"code":"unavailable"')
})
