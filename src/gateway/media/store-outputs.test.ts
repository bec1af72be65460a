import { expect, test } from 'bun:test'
import { storeOutputs } from './store-outputs.ts'
import type { Job } from '../../domain/jobs/job.ts'

test('a result that its provider has removed is lost, and nothing is fetched or stored', async () => {
  const unused = new Proxy({}, { get: () => expect.unreachable() })
  const job = { id: { key: 1n, tail: 1n }, kind: 'image', request: { count: 1 } } as Job
  const outputs = [{ from: 'lost', problem: 'the provider has removed the result' } as const]

  const stored = await storeOutputs(
    job,
    { outputs },
    { blobs: unused as never, fetchUntrusted: () => expect.unreachable() },
  )

  expect(stored).toEqual({ outcome: 'lost', problem: 'the provider has removed the result' })
})

test.each(['<html><body>Not found</body></html>', '\n <!DOCTYPE html>\n<title>Error</title>'])(
  'a result in the answer that is a web page is lost, and is not stored: %j',
  async page => {
    const unused = new Proxy({}, { get: () => expect.unreachable() })
    const job = { id: { key: 1n, tail: 1n }, kind: 'image', request: { count: 1 } } as Job
    const outputs = [{ from: 'bytes', bytes: new TextEncoder().encode(page) } as const]

    const stored = await storeOutputs(
      job,
      { outputs },
      { blobs: unused as never, fetchUntrusted: () => expect.unreachable() },
    )

    expect(stored).toEqual({ outcome: 'lost', problem: 'the result in the answer is a web page' })
  },
)
