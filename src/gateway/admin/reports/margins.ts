import { addUsd, nanoUsd, subtractUsd, ZERO, type NanoUsd } from '../../../domain/money.ts'
import type { Accounts } from '../../ports/access/accounts.ts'
import type { ApiKeys } from '../../ports/access/api-keys.ts'
import type {
  DayUsage,
  LedgerReports,
  LossLine,
  RefundLine,
  TimeRange,
} from '../../ports/ledger/ledger-reports.ts'
import type { Projects } from '../../ports/access/projects.ts'

/** What margins are grouped by. */
export const marginGroups = ['model', 'provider', 'account', 'key', 'project', 'day'] as const
export type MarginGroup = (typeof marginGroups)[number]

/** What was sold and what it cost. */
export type Margin = {
  readonly charges: number
  /** What customers paid: the charges, less what was credited back and the refunds that were made in the time. */
  readonly revenue: NanoUsd
  /** What the providers bill for the charges, as far as it is known. */
  readonly providerCost: NanoUsd
  /** What the providers bill for work that no customer paid for, as far as it is known. */
  readonly losses: NanoUsd
  /** The charges, and the work without a customer, whose cost is not known. The margin does not contain their costs. */
  readonly chargesWithoutCost: number
  readonly lossesWithoutCost: number
}

export const NO_MARGIN: Margin = {
  charges: 0,
  revenue: ZERO,
  providerCost: ZERO,
  losses: ZERO,
  chargesWithoutCost: 0,
  lossesWithoutCost: 0,
}

/** The revenue less all known costs: negative if the operator paid more than customers did. */
export function marginOf({
  revenue,
  providerCost,
  losses,
}: Pick<Margin, 'revenue' | 'providerCost' | 'losses'>): NanoUsd {
  return subtractUsd(revenue, addUsd(providerCost, losses))
}

/** What the margins of some keys, models and providers have in common. */
type Source = Pick<DayUsage, 'accountId' | 'apiKeyId' | 'model' | 'provider'> & { readonly day: number }

export type MarginPorts = {
  readonly ledger: Pick<LedgerReports, 'usageOfDay' | 'losses' | 'refunds'>
  readonly accounts: Pick<Accounts, 'findAccountById'>
  readonly apiKeys: Pick<ApiKeys, 'list'>
  readonly projects: Pick<Projects, 'list'>
}

/** The groups that have an id, and a name for people. */
export const namedGroups = ['account', 'key', 'project'] as const satisfies readonly MarginGroup[]

export type MarginReport = {
  /** In the order of the groups. The group of keys without a project is null. */
  readonly groups: ReadonlyMap<string | null, Margin>
  /** The names of accounts, keys and projects, by their ids. Empty for other groups. */
  readonly names: ReadonlyMap<string, string>
  readonly totals: Margin
}

/**
 * The margins of whole days, both included (in UTC, as numbers since 1970): the sums over the charges of these days,
 * the refunds that were made in them, and the work in them that no customer paid for. With `accountId`, only those of
 * that account. Rejects with `unavailable` while an upgrade adds up earlier charges.
 */
export async function reportMargins(
  {
    by,
    firstDay,
    lastDay,
    accountId,
  }: {
    readonly by: MarginGroup
    readonly firstDay: number
    readonly lastDay: number
    readonly accountId?: number | undefined
  },
  ports: MarginPorts,
): Promise<MarginReport> {
  const names = new GroupNames(by, ports)
  const groups = new Map<string | null, Margin>()
  let totals = NO_MARGIN
  for (let day = firstDay; day <= lastDay; day += 1)
    for await (const [source, margin] of marginsOfDay(day, accountId, ports.ledger)) {
      if (accountId !== undefined && source.accountId !== accountId) continue
      const group = await names.of(source)
      groups.set(group, sumOf(groups.get(group) ?? NO_MARGIN, margin))
      totals = sumOf(totals, margin)
    }
  const inOrder = [...groups].toSorted(([left], [right]) => compare(left, right))
  return { groups: new Map(inOrder), names: names.known, totals }
}

/** The parts that the margins of a day are the sums of. Refunds are only those of the account, if there is one. */
async function* marginsOfDay(
  day: number,
  accountId: number | undefined,
  ledger: MarginPorts['ledger'],
): AsyncGenerator<readonly [Source, Margin]> {
  for (const usage of await ledger.usageOfDay(day)) yield [{ ...usage, day }, soldBy(usage)]
  const between = { fromMs: day * MS_PER_DAY, toMs: (day + 1) * MS_PER_DAY }
  for await (const loss of pagesOf(page => ledger.losses(page), between)) {
    // Its charge has its cost.
    if (loss.reason !== 'compensated') yield [{ ...loss, day }, lostBy(loss)]
  }
  for await (const refund of pagesOf(page => ledger.refunds(accountId, page), between)) {
    const { charge, amount } = refund
    yield [
      { ...charge, accountId: refund.accountId, day },
      { ...NO_MARGIN, revenue: subtractUsd(ZERO, amount) },
    ]
  }
}

function soldBy(usage: DayUsage): Margin {
  const { charges, cost, compensated, providerCost, chargesWithoutCost } = usage
  const revenue = subtractUsd(cost, compensated)
  return { ...NO_MARGIN, charges, revenue, providerCost, chargesWithoutCost }
}

function lostBy({ providerCost }: LossLine): Margin {
  return providerCost === null
    ? { ...NO_MARGIN, lossesWithoutCost: 1 }
    : { ...NO_MARGIN, losses: providerCost }
}

function sumOf(left: Margin, right: Margin): Margin {
  return {
    charges: left.charges + right.charges,
    revenue: nanoUsd(left.revenue + right.revenue),
    providerCost: addUsd(left.providerCost, right.providerCost),
    losses: addUsd(left.losses, right.losses),
    chargesWithoutCost: left.chargesWithoutCost + right.chargesWithoutCost,
    lossesWithoutCost: left.lossesWithoutCost + right.lossesWithoutCost,
  }
}

const MS_PER_DAY = 86_400_000
/** The lines that one reading of a list returns. */
const PAGE_LINES = 500

async function* pagesOf<Line extends LossLine | RefundLine>(
  read: (page: {
    readonly limit: number
    readonly between: TimeRange
    readonly before?: string
  }) => Promise<readonly Line[]>,
  between: TimeRange,
): AsyncGenerator<Line> {
  for (let before: string | undefined; ;) {
    const lines = await read({ limit: PAGE_LINES, between, ...(before === undefined ? {} : { before }) })
    yield* lines
    before = lines.at(-1)?.cursor
    if (lines.length < PAGE_LINES || before === undefined) return
  }
}

/**
 * What identifies groups: a day its date; accounts, keys and projects their public ids. Each account is read once.
 */
class GroupNames {
  /** The names of the accounts, keys or projects that were read, by their public ids. */
  readonly known = new Map<string, string>()
  readonly #by: MarginGroup
  readonly #ports: Pick<MarginPorts, 'accounts' | 'apiKeys' | 'projects'>
  readonly #accounts = new Map<number, string>()
  /** The names of keys, or of their projects. */
  readonly #keys = new Map<number, string | null>()

  constructor(by: MarginGroup, ports: Pick<MarginPorts, 'accounts' | 'apiKeys' | 'projects'>) {
    this.#by = by
    this.#ports = ports
  }

  async of({ accountId, apiKeyId, model, provider, day }: Source): Promise<string | null> {
    switch (this.#by) {
      case 'model':
        return model
      case 'provider':
        return provider
      case 'day':
        return new Date(day * MS_PER_DAY).toISOString().slice(0, 10)
      case 'account':
        return this.#accounts.get(accountId) ?? (await this.#readAccount(accountId))
      case 'key':
      case 'project':
        if (!this.#keys.has(apiKeyId)) await this.#readKeys(accountId)
        return this.#keys.get(apiKeyId) ?? null
    }
  }

  async #readAccount(accountId: number): Promise<string | null> {
    const account = await this.#ports.accounts.findAccountById(accountId)
    if (account === undefined) return null
    this.#accounts.set(accountId, account.publicId)
    this.known.set(account.publicId, account.name)
    return account.publicId
  }

  async #readKeys(accountId: number): Promise<void> {
    const { apiKeys, projects } = this.#ports
    const byId = new Map((await projects.list(accountId)).map(project => [project.id, project]))
    for (const key of await apiKeys.list(accountId)) {
      const project = key.projectId === undefined ? undefined : byId.get(key.projectId)
      const group = this.#by === 'key' ? key : project
      this.#keys.set(key.id, group?.publicId ?? null)
      if (group !== undefined) this.known.set(group.publicId, group.name)
    }
  }
}

/** Null comes last. */
function compare(left: string | null, right: string | null): number {
  if (left === null || right === null) return left === right ? 0 : left === null ? 1 : -1
  return left < right ? -1 : 1
}
