import { describe, expect, test } from 'bun:test'
import { until } from '../../until.ts'
import { fakeClock } from '../../fake-clock.ts'
import { aSubmitCall } from '../../media-calls.ts'
import { literalSecret, mediaProviderRow } from '../../media-providers.ts'
import { simulatedSend } from '../simulated-send.ts'
import { submitBehaviors, type SubmitBehaviorName } from './behaviors.ts'
import { MediaSimulator } from './media-simulator.ts'
import { simulatedKinds } from './simulated-kinds.ts'
import { modelOf, type SimulatedKind } from './simulated-media.ts'

const JOB_MS = 5000
const names = Object.keys(submitBehaviors) as SubmitBehaviorName[]

describe.each(Object.entries<SimulatedKind>(simulatedKinds))('the simulated API of %s', (name, kind) => {
  const isSynchronous = kind.dialect.isSynchronous === true
  const { path, dialect, provider, makes = 'video' } = kind
  const model = modelOf(kind, makes) ?? 'upstream-model'

  function open() {
    const clock = fakeClock()
    const simulator = new MediaSimulator(dialect, { clock, jobMs: JOB_MS })
    const send = simulatedSend(request => simulator.handle(request), clock)
    const adapter = provider({ send, clock, secretOf: literalSecret })
    const row = { ...mediaProviderRow(kind.kind, `http://simulator${path}`, kind.key), id: name }
    const submit = (prompt: string) => {
      const outcome = adapter.submit(
        aSubmitCall(row, { kind: makes, model, prompt, durationMs: 6000, timeoutMs: 1000 }),
      )
      return { outcome }
    }
    const control = (method: string, part: string, body: object = {}) =>
      simulator.handle({
        method,
        path: `/__sim/${dialect.name}/${part}`,
        headers: {},
        body: JSON.stringify(body),
      })
    return { clock, simulator, submit, control }
  }

  test('the simulated API of a provider runs a job to its end, and charges for it', async () => {
    const { clock, simulator, submit } = open()

    await submit('A bay').outcome
    const running = simulator.ledger()
    clock.advance(JOB_MS)

    expect(running).toMatchObject([
      isSynchronous
        ? { prompt: 'A bay', state: 'finished', unitsCharged: 1, creates: 1 }
        : { prompt: 'A bay', state: 'running', unitsCharged: 0, creates: 1 },
    ])
    expect(simulator.ledger()).toMatchObject([{ state: 'finished', unitsCharged: 1, isConfirmed: true }])
  })

  test.each(names)(
    'the simulated API of a provider has a job after %s if and only if it accepts',
    async behavior => {
      const { clock, simulator, submit } = open()
      await submit('The first').outcome
      simulator.scriptSubmits(behavior)

      const { outcome } = submit('The second')
      // For answers that never come.
      const isSilent = behavior.endsWith('_silence') || (isSynchronous && behavior === 'never_ends')
      const hasArrived = () => simulator.creates === 2 && (!isSilent || clock.waiting > 0)
      await until('the submit has arrived', hasArrived)
      clock.advance(1000)
      await outcome

      const accepted = simulator.ledger().filter(({ prompt }) => prompt === 'The second')
      expect(accepted.length).toBe(submitBehaviors[behavior].accepts ? 1 : 0)
      expect(simulator.creates).toBe(2)
    },
  )

  test('the simulated API of a provider charges nothing for a job that fails, is filtered or never ends', async () => {
    const { clock, simulator, submit } = open()
    simulator.scriptSubmits('fails', 'is_filtered', 'never_ends')
    for (const prompt of ['a', 'b', 'c']) {
      submit(prompt)
      await until('the submit has arrived', () => simulator.ledger().at(-1)?.prompt === prompt)
    }

    clock.advance(1e9)

    expect(simulator.ledger().map(({ state, unitsCharged }) => [state, unitsCharged])).toEqual([
      ['failed', 0],
      ['filtered', 0],
      ['running', 0],
    ])
  })

  test('the simulated API of a provider counts submits with the same body', async () => {
    const { simulator, submit } = open()

    await submit('A bay').outcome
    await submit('A bay').outcome
    await submit('A cove').outcome

    // With an id of ours in it, no body is like another.
    const expected = kind.recovers === true ? [1, 1, 1] : [2, 2, 1]
    expect(simulator.ledger().map(({ creates }) => creates)).toEqual(expected)
  })

  test('the simulated API of a provider is scripted and audited from another process', async () => {
    const { simulator, submit, control } = open()

    const refused = control('POST', 'script', { submits: ['accept', 'explode'], polls: ['implode'] })
    const taken = control('POST', 'script', { submits: ['accept_reset'], polls: ['status_429'] })
    const outcome = await submit('A bay').outcome
    const ledger = control('GET', 'ledger')

    expect(refused).toMatchObject({ status: 400, body: '{"unknown":["explode","implode"]}' })
    expect(taken).toMatchObject({ status: 200 })
    expect(outcome).toEqual({ outcome: 'unknown', problem: 'ECONNRESET' })
    expect(ledger).toMatchObject({ status: 200, body: JSON.stringify({ jobs: simulator.ledger() }) })
  })
})
