import { expect, test } from 'bun:test'
import { aJob } from '../../../test/support/job-builders.ts'
import { aCharge, anId, NOW } from '../../../test/support/ledger-builders.ts'
import { GatewayError } from '../../domain/errors.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { formatId, type Id } from '../../domain/ids.ts'
import type { Job } from '../../domain/jobs/job.ts'
import { usd, ZERO } from '../../domain/money.ts'
import { NO_USAGE } from '../../domain/pricing/usage.ts'
import type { RecordedRequest, RequestRecords } from '../ports/requests/request-records.ts'
import type { BookedRequest, BookedItem, BookedAttempt, BookedCharge } from '../ports/ledger/booked-items.ts'
import { explainRequest, type RequestOutcome } from './explain-request.ts'
import { findRequest, type FindRequestPorts, type FoundRequest } from './find-request.ts'

const ID = anId()
const REQ = formatId('req', ID)

function aRecord(change: Partial<RecordedRequest> = {}): RecordedRequest {
  return {
    id: REQ,
    atMs: NOW,
    accountId: 'acct_ada',
    apiKeyId: 'key_ada',
    route: 'chat',
    status: 200,
    durationMs: 12.5,
    attempts: [],
    isReplay: false,
    clientDisconnected: false,
    alikeRefusals: 0,
    ...change,
  }
}

function aBookedRequest(change: Partial<BookedRequest> = {}): BookedRequest {
  return {
    kind: 'request',
    id: ID,
    accountId: 1,
    job: undefined,
    charge: undefined,
    hold: undefined,
    attempts: [],
    ...change,
  }
}

function aBookedCharge(change: Partial<BookedCharge> = {}): BookedCharge {
  const usage = { ...NO_USAGE, input: 3, cachedInput: 1, output: 2 }
  const charge = { ...aCharge(7, { usage }), id: ID, accountId: 1, refunded: ZERO, cursor: 'r1' }
  return { ...charge, shortfall: ZERO, refunds: [], ...change } as BookedCharge
}

const attempt: BookedAttempt = {
  number: 1,
  provider: 'main',
  state: 'compensated',
  usage: null,
  cost: usd('1'),
  providerCost: null,
  atMs: NOW,
}

function aStoredJob(change: Partial<Job>): Job {
  const ended = { failure: null, cost: null, loss: null, problem: null, outputs: [] }
  return { ...aJob({ accountId: 1, apiKeyId: 7 }), ...ended, ...change } as unknown as Job
}

function found(change: Partial<FoundRequest>): FoundRequest {
  return {
    kind: 'request',
    id: REQ,
    record: undefined,
    booked: undefined,
    job: undefined,
    jobEvents: [],
    recordProblem: undefined,
    ...change,
  }
}

const NOTHING = 'Nothing was charged.'
const NO_RECORD = 'Its record is not kept, so its status and its duration are not known.'

const cases: Readonly<Record<string, [Partial<FoundRequest>, RequestOutcome, readonly string[]]>> = {
  'refused for money': [
    {
      record: aRecord({
        status: 402,
        errorCode: 'insufficient_balance',
        required: usd('2'),
        available: usd('1.5'),
      }),
    },
    'refused',
    [
      'The reply was 402 with the code insufficient_balance.',
      'It could cost up to 2.00 USD, and 1.50 USD was left for it. Nothing was charged.',
    ],
  ],
  'refused by a limit, with others': [
    {
      record: aRecord({
        status: 429,
        errorCode: 'requests_per_minute',
        refusedBy: { scope: 'project', limit: 'requests_per_minute' },
        alikeRefusals: 41,
      }),
    },
    'refused',
    [
      'The reply was 429 with the code requests_per_minute.',
      'It was refused by the limit "requests per minute" of its project.',
      'In the same minute, 41 more requests of this key were refused with this code. They are only counted.',
      NOTHING,
    ],
  ],
  'refused by an upstream': [
    { record: aRecord({ status: 400, attempts: [{ provider: 'main', reason: 'refused' }] }) },
    'refused',
    ['The reply was 400.', NOTHING, 'Upstreams that failed: main (refused).'],
  ],
  'answered after a failover': [
    {
      record: aRecord({ attempts: [{ provider: 'main', reason: 'timeout' }, { provider: 'backup' }] }),
      booked: aBookedRequest({ charge: aBookedCharge() }),
    },
    'charged',
    [
      '8.00 USD was charged for 4 input tokens and 2 output tokens.',
      'Upstreams that failed: main (timeout).',
    ],
  ],
  'a stream that broke and was charged in part': [
    {
      record: aRecord({ errorCode: 'upstream_error' }),
      booked: aBookedRequest({ charge: aBookedCharge({ provenance: 'estimated', shortfall: usd('1') }) }),
    },
    'charged',
    [
      'The stream broke after it had begun, with the code upstream_error.',
      '8.00 USD was charged for 4 input tokens and 2 output tokens.',
      'The tokens are an estimate, because the provider reported none.',
      'The cost was 1.00 USD above the amount that was held.',
    ],
  ],
  'a stream that broke without output': [
    { record: aRecord({ errorCode: 'upstream_error' }) },
    'failed',
    ['The stream broke after it had begun, with the code upstream_error.', NOTHING],
  ],
  'failed with 504': [
    { record: aRecord({ status: 504, errorCode: 'upstream_timeout' }) },
    'failed',
    ['The reply was 504 with the code upstream_timeout.', NOTHING],
  ],
  'a late answer without a record': [
    { booked: aBookedRequest({ charge: aBookedCharge(), attempts: [attempt] }) },
    'given_back',
    [
      '8.00 USD was charged for 4 input tokens and 2 output tokens.',
      'The client got an error, and the answer came later. The charge was given back in the same step, so it cost nothing.',
      'Upstreams whose answers did not reach the client: main (compensated).',
      NO_RECORD,
    ],
  ],
  'a replay': [
    { record: aRecord({ isReplay: true, replayOf: 'req_first' }) },
    'replayed',
    ['It got the answer of req_first. A replay is free and takes nothing of a limit.'],
  ],
  'a client that disconnected': [
    { record: aRecord({ status: 499, clientDisconnected: true }) },
    'cancelled',
    ['The client disconnected before the reply had ended.', NOTHING],
  ],
  'a success that cost nothing': [{ record: aRecord() }, 'uncharged', [NOTHING]],
  'a job that runs': [
    { record: aRecord({ status: 202 }), job: aStoredJob({ state: 'processing', held: usd('4') }) },
    'running',
    ['Its job has not ended. 4.00 USD is reserved for it.'],
  ],
  'a job that failed after its request had succeeded': [
    {
      record: aRecord({ status: 202 }),
      job: aStoredJob({
        state: 'failed',
        failure: { reason: 'generation_failed', message: 'The prompt was refused.' },
      }),
    },
    'failed',
    [NOTHING, 'Its job failed: The prompt was refused.'],
  ],
}

test.each(Object.entries(cases))('%s is explained to the operator', (_, [change, outcome, why]) => {
  const explained = explainRequest(found(change), { isForOperator: true })

  expect(explained).toEqual({ outcome, why })
})

test('no sentence for a customer names a provider', () => {
  for (const [change] of Object.values(cases)) {
    const { why } = explainRequest(found(change), { isForOperator: false })
    expect(why.join(' ')).not.toMatch(/\bmain\b|backup|[Uu]pstreams/)
  }
})

/** Records and books with these contents. */
function portsWith(
  known: {
    readonly records?: readonly RecordedRequest[]
    readonly bookedItems?: readonly [Id, BookedItem][]
    readonly jobs?: readonly Job[]
    readonly find?: RequestRecords['find']
  } = {},
): FindRequestPorts {
  const { records = [], bookedItems = [], jobs = [] } = known
  const isSame = (left: Id, right: Id) => left.key === right.key && left.tail === right.tail
  return {
    records: {
      find: known.find ?? (async id => records.find(record => record.id === id || record.jobId === id)),
    },
    bookedItems: { find: async id => bookedItems.find(([of]) => isSame(of, id))?.[1] },
    jobs: { find: async id => jobs.find(job => isSame(job.id, id)), history: async () => [] },
    recordsKeptDays: 7,
  }
}

const ADA = { id: 1, publicId: 'acct_ada' }

test('a refused request is found by its record alone, and only by its own account', async () => {
  const ports = portsWith({ records: [aRecord({ status: 402 })] })

  expect(await findRequest(REQ, ADA, ports)).toMatchObject({ id: REQ, booked: undefined })
  expect(await findRequest(REQ, undefined, ports)).toMatchObject({ id: REQ })
  expect(await rejection(findRequest(REQ, { id: 2, publicId: 'acct_eve' }, ports))).toMatchObject({
    code: 'not_found',
  })
})

test('a request that got the job of an earlier request shows that job', async () => {
  const job = aStoredJob({ id: anId(), state: 'completed' })
  const jobId = formatId('img', job.id)
  const first = aRecord({ id: formatId('req', job.requestId!), jobId })
  const repeat = aRecord({ jobId, isReplay: true })
  const ports = portsWith({
    records: [first, repeat],
    bookedItems: [[job.id, aBookedRequest({ id: job.id, job: job.id })]],
    jobs: [job],
  })

  expect(await findRequest(REQ, ADA, ports)).toMatchObject({ id: REQ, record: repeat, job })
  expect(await findRequest(jobId, ADA, ports)).toMatchObject({ id: first.id, record: first, job })
})

test('the books explain a request whose record cannot be read', async () => {
  const ports = portsWith({
    find: () => Promise.reject(new GatewayError('unavailable', 'The records cannot be read now.')),
    bookedItems: [[ID, aBookedRequest({ charge: aBookedCharge() })]],
  })

  const page = (await findRequest(REQ, ADA, ports)) as FoundRequest

  expect(page).toMatchObject({ id: REQ, record: undefined })
  expect(explainRequest(page, { isForOperator: false }).why).toContain(
    'Its record could not be read: The records cannot be read now.',
  )
})

test('the message about an unknown id says how long requests are kept', async () => {
  const [kept, notKept] = [portsWith(), { ...portsWith(), recordsKeptDays: undefined }]

  expect(await rejection(findRequest(REQ, undefined, kept))).toMatchObject({
    code: 'not_found',
    message: expect.stringMatching(
      /Requests that moved no money are kept for 7 days, and are known when they have ended\.$/,
    ) as string,
  })
  expect(await rejection(findRequest('chatcmpl-1', undefined, notKept))).toMatchObject({
    message: expect.stringMatching(/Only requests that moved money or made a job are kept\.$/) as string,
  })
})
