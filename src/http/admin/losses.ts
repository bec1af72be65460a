import { formatId } from '../../domain/ids.ts'
import { jobIdPrefix } from '../../domain/jobs/job.ts'
import { formatUsd } from '../../domain/money.ts'
import type { LossLine } from '../../gateway/ports/ledger.ts'
import { pageOf, rowsBefore } from '../list-query.ts'
import type { BufferedReply } from '../request-context.ts'
import { adminReply, type AdminCall, type AdminPorts } from './call.ts'
import { instant } from './instant.ts'
import { publicNames, type PublicNames } from './public-names.ts'
import { readAdminPage } from './query.ts'

const idPrefixOf = { text: 'req', ...jobIdPrefix } as const

/** One page of the jobs and attempts that cost the operator money and that no customer paid for, newest first. */
export async function listLosses({ query }: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
  const asked = readAdminPage(query)
  const lines = await ports.ledger.losses(rowsBefore(asked))
  const names = await publicNames(lines, ports)
  return adminReply(
    pageOf(lines, asked.limit, { cursorOf: line => line.cursor, rowOf: line => lossBody(line, names) }),
  )
}

function lossBody(line: LossLine, { accounts, accountNames }: PublicNames): object {
  return {
    id: formatId(idPrefixOf[line.kind], line.id),
    kind: line.kind,
    reason: line.reason,
    account: accounts.get(line.accountId) ?? null,
    account_name: accountNames.get(line.accountId) ?? null,
    model: line.model,
    provider: line.provider,
    loss_usd: formatUsd(line.loss),
    provider_cost_usd: line.providerCost === null ? null : formatUsd(line.providerCost),
    at: instant(line.atMs),
  }
}
