/** The money of an account: its balance, what it spends by day and by model, and its settings. */
import { DAYS_MAX, daysIn, reportRange, type Range } from '../../api/days.ts'
import { useResource } from '../../api/resource.ts'
import { Chart } from '../../parts/chart.tsx'
import { DayFilter } from '../../parts/day-filter.tsx'
import { Cents, Figure, Figures } from '../../parts/facts.tsx'
import { Filters, useQuery } from '../../parts/filters.tsx'
import { amountOf, count, money, nanosOf } from '../../parts/format.ts'
import { Loaded, Note } from '../../parts/notes.tsx'
import { accountsTexts } from './texts.ts'
import { marginsTexts } from '../margins/texts.ts'
import { chartsTexts } from '../../parts/texts.ts'
import { readDayMargins, readTopMargins } from '../margins/read-margins.ts'
import { SpendChart } from '../margins/spend-chart.tsx'
import { AccountBadge, type Account, type TabProps } from './account-state.tsx'
import { AccountSettings } from './settings.tsx'

const words = accountsTexts

/** Without filters, so many days until today. */
const DAYS = 30

export function AccountOverview({ account, onChange }: TabProps) {
  const [query] = useQuery()
  const range = reportRange(query, DAYS)
  const shown = daysIn(range)
  const spend = useResource(`${account.id} ${range.from} ${range.to}`, () => readSpend(account.id, range), {
    subject: account.id,
  })
  return (
    <div class="stack">
      <Figures>
        <Figure
          label={words.available}
          value={<Cents of={account.available_usd} />}
          note={<AccountBadge of={account} />}
        />
        <Figure label={words.held} value={<Cents of={account.held_usd} />} note={words.heldNote} />
        <Figure
          label={words.spend}
          value={<Cents of={spend.value?.total} />}
          note={account.sandbox_only ? words.spendOfSandbox : words.inTheseDays}
        />
        <Figure
          label={words.charges}
          value={spend.value === undefined ? '–' : count(spend.value.charges)}
          note={<a href={`requests?account=${account.id}`}>{words.showRequests}</a>}
        />
      </Figures>
      <div>
        <Filters>
          <DayFilter name="from" label={words.from} zone="UTC" otherwise={shown.at(0)} />
          <DayFilter name="to" label={words.to} zone="UTC" otherwise={shown.at(-1)} />
        </Filters>
        {range.isCut && <Note tone="warn">{marginsTexts.cut(DAYS_MAX)}</Note>}
        <Loaded of={spend}>{spend => <SpendCharts of={spend} />}</Loaded>
      </div>
      <AccountSettings account={account} onChange={onChange} />
    </div>
  )
}

type Spend = Awaited<ReturnType<typeof readSpend>>

function SpendCharts({ of: { days, models } }: { readonly of: Spend }) {
  return (
    <div class="grid">
      <Chart
        title={words.spendByDay}
        by={chartsTexts.day}
        labels={days.map(({ day }) => day)}
        series={[{ label: words.spend, values: days.map(day => day.revenue_usd) }]}
        show={money}
        kind="bars"
      />
      <SpendChart title={words.spendByModel} by="model" margins={models} />
    </div>
  )
}

async function readSpend(account: Account['id'], range: Range) {
  const [byDay, models] = await Promise.all([
    readDayMargins(range, account),
    readTopMargins('model', range, account),
  ])
  const found = new Map(byDay.map(group => [group.day, group]))
  return {
    total: amountOf(byDay.reduce((sum, group) => sum + nanosOf(group.revenue_usd), 0n)),
    charges: byDay.reduce((sum, group) => sum + group.charges, 0),
    // Days without a charge are part of the picture.
    days: daysIn(range).map(day => ({ day, revenue_usd: found.get(day)?.revenue_usd ?? '0' })),
    models,
  }
}
