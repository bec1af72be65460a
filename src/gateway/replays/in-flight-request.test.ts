import { expect, test } from 'bun:test'
import { rejection } from '../../../test/support/rejection.ts'
import { DisconnectSignal } from '../disconnect-signal.ts'
import type { TextResult } from '../text/text-result.ts'
import { InFlightRequest } from './in-flight-request.ts'

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
