import type { Account } from '../../../domain/accounts/account.ts'
import { formatUsd, type NanoUsd } from '../../../domain/money.ts'
import { inputTokens, outputTokens } from '../../../domain/pricing/usage.ts'
import { instant } from '../../../domain/time.ts'
import { findKeyOfPath } from '../../../gateway/admin/accounts/find-key.ts'
import type { RecordedRequest } from '../../../gateway/ports/requests/request-records.ts'
import type { BookedAttempt } from '../../../gateway/ports/ledger/booked-items.ts'
import { findRequest, type FoundRequest } from '../../../gateway/requests/find-request.ts'
import type { BufferedReply } from '../../request-context.ts'
import { readRequestQuery } from '../../account/request-filters.ts'
import { movementPage, recordJson, requestPage } from '../../account/requests-json.ts'
import { accountOf } from '../accounts/accounts.ts'
import { adminReply, type AdminCall } from '../call.ts'
import type { ReportPorts } from '../ports.ts'

/** The billable requests of one account (`?account=`), of one key (`?key=`) or of all, newest first. */
export async function listRequests({ query }: AdminCall, ports: ReportPorts): Promise<BufferedReply> {
  const asked = readRequestQuery(query, ports.clock.now(), ['account'])
  const [account, key] = [query.get('account'), query.get('key')]
  const ofAccount = account === null ? undefined : await accountOf({ account }, ports)
  const ofKey = key === null ? undefined : await findKeyOfPath(key, ports, 'key')
  const { requests, next } = await ports.records.list({
    ...asked,
    ...(ofAccount === undefined ? {} : { accountId: ofAccount.publicId }),
    ...(ofKey === undefined ? {} : { apiKeyId: ofKey.publicId }),
  })
  const names = await namesOf(
    requests.map(({ accountId }) => accountId),
    ports,
  )
  return adminReply({
    data: requests.map(record => recordBody(record, names)),
    has_more: next !== undefined,
    next: next ?? null,
  })
}

/** All that is known about a request, a job, a credit or a debit. Any of its ids finds it. */
export async function getRequest({ params }: AdminCall, ports: ReportPorts): Promise<BufferedReply> {
  const found = await findRequest(params['request'] ?? '', undefined, ports)
  if (found.kind !== 'request') {
    const account = await ports.accounts.findAccountById(found.accountId)
    return adminReply({ ...movementPage(found, { isForOperator: true }), ...ownerBody(account) })
  }
  return adminReply(await requestBody(found, ports))
}

async function requestBody(found: FoundRequest, ports: ReportPorts): Promise<object> {
  const { record, booked, job, jobEvents } = found
  const number = booked?.accountId ?? job?.accountId
  const account =
    number === undefined
      ? await ports.accounts.findAccount(record?.accountId ?? '')
      : await ports.accounts.findAccountById(number)
  const page = requestPage(found, { isForOperator: true })
  const names = new Map(account === undefined ? [] : [[account.publicId, account.name]])
  const explained = job === undefined ? undefined : ports.explainJob(job)
  return {
    ...page,
    ...ownerBody(account),
    request: record === undefined ? null : recordBody(record, names),
    charge:
      page.charge === null || booked?.charge === undefined
        ? null
        : {
            ...page.charge,
            provider: booked.charge.provider,
            provider_cost_usd: usdOrNull(booked.charge.providerCost),
          },
    undelivered_attempts: (booked?.attempts ?? []).map(attemptBody),
    job:
      page.job === null || job === undefined
        ? null
        : {
            ...page.job,
            provider: job.provider,
            upstream_id: job.upstreamId,
            problem: job.problem,
            loss_usd: usdOrNull(job.loss),
            provider_cost_usd: usdOrNull(job.providerCost),
            why: explained?.why ?? null,
            next: explained?.next ?? null,
            history: jobEvents.map(({ state, detail, atMs }) => ({ state, detail, at: instant(atMs) })),
          },
  }
}

function ownerBody(account: Account | undefined) {
  return { account: account?.publicId ?? null, account_name: account?.name ?? null }
}

function recordBody(record: RecordedRequest, names: ReadonlyMap<string, string>): object {
  return {
    ...recordJson(record),
    account: record.accountId,
    account_name: names.get(record.accountId) ?? null,
    attempts: record.attempts.map(({ provider, reason }) => ({ provider, reason: reason ?? null })),
  }
}

/** A call of an upstream whose answer did not reach the client. */
function attemptBody({ number, provider, state, usage, cost, providerCost, atMs }: BookedAttempt): object {
  return {
    number,
    provider,
    state,
    input_tokens: usage === null ? null : inputTokens(usage),
    output_tokens: usage === null ? null : outputTokens(usage),
    cost_usd: usdOrNull(cost),
    provider_cost_usd: usdOrNull(providerCost),
    at: instant(atMs),
  }
}

/** The names of accounts by their public ids. */
async function namesOf(
  publicIds: readonly string[],
  { accounts }: ReportPorts,
): Promise<ReadonlyMap<string, string>> {
  const found = await Promise.all([...new Set(publicIds)].map(id => accounts.findAccount(id)))
  return new Map(found.flatMap(account => (account === undefined ? [] : [[account.publicId, account.name]])))
}

function usdOrNull(amount: NanoUsd | null): string | null {
  return amount === null ? null : formatUsd(amount)
}
