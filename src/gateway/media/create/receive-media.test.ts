import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'bun:test'
import { streamOfText } from '../../../../test/support/byte-streams.ts'
import { aDataFolder } from '../../../../test/support/data-folder.ts'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import { aJob, openJobs, record, type Payer } from '../../../../test/support/job-builders.ts'
import { anId } from '../../../../test/support/ledger-builders.ts'
import { rejection } from '../../../../test/support/rejection.ts'
import { sqlite } from '../../../../test/support/test-store.ts'
import { aDestination, anAdmittedRequest } from '../../../../test/support/upstream-rows.ts'
import { openDiskBlobs } from '../../../stores/disk/blobs.ts'
import { bodyMemory, inputSpool } from '../../byte-budgets/body-budgets.ts'
import type { Blobs } from '../../ports/media/blobs.ts'
import type { Jobs } from '../../ports/media/jobs.ts'
import type { MediaCall } from './media-call.ts'
import { receiveMedia } from './receive-media.ts'

const MANY_BYTES = 1_000_000_000
const IMAGE = btoa('\x89PNG\r\n\x1a\nan image')
const FORM = { kind: 'image', route: 'images', takesForms: false, fields: new Set(['prompt']) } as const

let blobs: Blobs
let jobs: Jobs
let payer: Payer

beforeEach(async () => {
  ;({ jobs, payer } = await openJobs(sqlite))
  blobs = await openDiskBlobs({ folder: aDataFolder() })
})

/** Receives a request with a file, and answers it. */
function receive(
  answer: (call: MediaCall) => Promise<string>,
  ports: { readonly jobs?: Pick<Jobs, 'find'>; readonly blobs?: Blobs } = {},
): Promise<string> {
  const clock = fakeClock()
  const { caller } = anAdmittedRequest([aDestination('main')], payer).call
  return receiveMedia(
    {
      id: anId(),
      caller,
      form: FORM,
      boundary: undefined,
      idempotencyKey: undefined,
      openBody: () => streamOfText(JSON.stringify({ prompt: 'A boat', image: IMAGE })),
      declaredBytes: undefined,
      memory: bodyMemory(MANY_BYTES, clock).open(1),
      signal: new AbortController().signal,
      record: {},
    },
    answer,
    {
      blobs,
      jobs,
      inputSpool: inputSpool(MANY_BYTES, clock),
      newId: anId,
      newHash: () => createHash('sha256'),
      ...ports,
    },
  )
}

async function files(): Promise<number> {
  return (await blobs.list({ limit: 9, olderThanMs: Infinity })).length
}

const makeJob = async ({ jobId }: MediaCall) => {
  await record(jobs, aJob(payer, { id: jobId }))
  return 'the id of the job'
}
const refuse = () => Promise.reject(new Error('No money.'))

test('the files of a request that made a job stay, and those of one that made none are removed', async () => {
  await receive(makeJob)
  const error = await rejection(receive(refuse))

  expect(error).toMatchObject({ message: 'No money.' })
  expect(await files()).toBe(1)
})

describe('a request is answered, and its files are left to the reconciler,', () => {
  const lost = () => Promise.reject(new Error('The store is not there.'))

  test('if the store cannot be read after the job was made', async () => {
    expect(await receive(makeJob, { jobs: { find: lost } })).toBe('the id of the job')
    expect(await files()).toBe(1)
  })

  test('if the files of a refused request cannot be removed', async () => {
    const stuck = { ...blobs, write: blobs.write.bind(blobs), remove: lost }

    const error = await rejection(receive(refuse, { blobs: stuck }))

    expect(error).toMatchObject({ message: 'No money.' })
  })
})
