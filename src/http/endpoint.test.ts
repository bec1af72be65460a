import { expect, test } from 'bun:test'
import { rejection } from '../../test/support/rejection.ts'
import { answer, type Asked } from './endpoint.ts'
import { plainReplies } from './reply-style.ts'
import { RunningRequests } from './running-requests.ts'

test('a request that cannot be logged has ended all the same, so that a stop does not wait for it', async () => {
  const running = new RunningRequests()
  const fault = new Error('The log is full.')
  const request = { reply: () => undefined } as unknown as Asked
  const handle = () => ({ status: 200, headers: {}, body: null })

  const answered = answer(
    request,
    { route: 'root', handle, style: plainReplies },
    {
      nextId: () => ({ key: 1n, tail: 1n }),
      elapsed: () => 0,
      observe: () => {
        throw fault
      },
      running,
      costHeader: 'x-acme-cost-usd',
      replayHeader: 'x-acme-replay',
    },
  )

  expect(await rejection(answered)).toBe(fault)
  await running.idle()
})
