import { expect, test } from 'bun:test'
import { rejection } from '../../test/support/rejection.ts'
import { GatewayError } from '../domain/errors.ts'
import { answer, type Asked, type Edge, type Finished } from './endpoint.ts'
import { plainReplies } from './reply-style.ts'
import type { Handler } from './request-context.ts'
import { RunningRequests } from './running-requests.ts'

const route = (handle: Handler) => ({ route: 'root', handle, style: plainReplies })

function edgeWith(observe: Edge['observe']): Edge {
  return {
    nextId: () => ({ key: 1n, tail: 1n }),
    elapsed: () => 0,
    observe,
    running: new RunningRequests(),
    costHeader: 'x-acme-cost-usd',
    replayHeader: 'x-acme-replay',
  }
}

test('a request that cannot be logged has ended all the same, so that a stop does not wait for it', async () => {
  const fault = new Error('The log is full.')
  const request = { reply: () => undefined } as unknown as Asked
  const edge = edgeWith(() => {
    throw fault
  })

  const answered = answer(
    request,
    route(() => ({ status: 200, headers: {}, body: null })),
    edge,
  )

  expect(await rejection(answered)).toBe(fault)
  await edge.running.idle()
})

test('a request whose client left before its reply is logged as left, not as what its end brought about', async () => {
  const finished: Finished[] = []
  const request = { reply: () => undefined, hasLeft: true } as unknown as Asked
  const handle = () => {
    throw new GatewayError('upstream_error', 'The call was cut short.')
  }

  await answer(
    request,
    route(handle),
    edgeWith(each => finished.push(each)),
  )

  expect(finished).toMatchObject([{ status: 499, context: { trace: { clientDisconnected: true } } }])
  expect(finished[0]?.context.trace).not.toHaveProperty('errorCode')
})
