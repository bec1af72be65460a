import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GatewayProcess } from '../../support/gateway-process.ts'
import { checkReported, makeCustomer, startToKill } from '../books/reported-costs.ts'

type Stream = {
  readonly id: string
  /** The rest of the stream, until it ends or breaks. */
  rest(): Promise<string>
  leave(): void
}

/** A slow stream without usage, whose first tokens have been read. */
async function speak(gateway: GatewayProcess, key: string): Promise<Stream> {
  const client = new AbortController()
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'sandbox-chat',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      sandbox: { output_tokens: 1000, pace_ms: 20, no_usage: true },
    }),
    signal: client.signal,
  })
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (!/"content":"[^"]/.test(text)) text += decoder.decode((await reader.read()).value)
  return {
    id: response.headers.get('x-request-id') ?? '',
    async rest() {
      for (;;) {
        const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }))
        if (done) return text
        text += decoder.decode(value, { stream: true })
      }
    },
    leave: () => client.abort(),
  }
}

/** Runs `act` on a stream, stops the gateway with SIGTERM, and returns the charge of the stream after a restart. */
async function stopped(act: (stream: Stream) => void, environment: Record<string, string> = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-stop-'))
  let gateway = await startToKill(dataDir, environment)
  try {
    const customer = await makeCustomer(gateway)
    const stream = await speak(gateway, customer.key)
    act(stream)
    const exitCode = await gateway.stop()
    gateway = await startToKill(dataDir)
    const charged = new Map<string, string>()
    await checkReported(gateway, customer, new Map(), charged)
    return { exitCode, cost: charged.get(stream.id) }
  } finally {
    await gateway.kill()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

test('a client that disconnects from a stream just before the gateway stops is charged for the output so far', async () => {
  const { exitCode, cost } = await stopped(stream => stream.leave())

  expect(exitCode).toBe(0)
  expect(Number(cost)).toBeGreaterThan(0)
})

test('a stream that exceeds the drain timeout is cut, does not look complete, and is charged for the output so far', async () => {
  let text = Promise.resolve('')

  const { exitCode, cost } = await stopped(stream => void (text = stream.rest()), { TOLLGATE_DRAIN_S: '0.2' })

  expect(exitCode).toBe(0)
  expect(Number(cost)).toBeGreaterThan(0)
  expect(await text).not.toContain('[DONE]')
})
