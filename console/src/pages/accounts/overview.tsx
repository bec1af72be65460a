/** The money of an account: its balance, what it spends by day and by model, and its settings. */
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { Chart } from '../../parts/chart.tsx'
import { DayFilter, Filters, useQuery, type Query } from '../../parts/filters.tsx'
import { Figure, Figures } from '../../parts/facts.tsx'
import { count, money } from '../../parts/format.ts'
import { Loaded } from '../../parts/notes.tsx'
import { texts } from '../../texts.ts'
import { AccountBadge, type Account, type TabProps } from './account-state.tsx'
import { AccountSettings } from './settings.tsx'

const words = texts.accounts

export function AccountOverview({ account, onChange }: TabProps) {
  const [query] = useQuery()
  const days = daysOf(query, Date.now())
  const spend = useResource(`${account.id} ${days.from} ${days.until}`, () => readSpend(account.id, days))
  return (
    <div class="stack">
      <Figures>
        <Figure
          label={words.available}
          value={money(account.available_usd)}
          note={<AccountBadge of={account} />}
        />
        <Figure label={words.held} value={money(account.held_usd)} note={words.heldNote} />
        <Figure label={words.spent} value={money(spend.value?.total)} note={words.inTheseDays} />
        <Figure
          label={words.charges}
          value={spend.value === undefined ? '–' : count(spend.value.charges)}
          note={<a href={`requests?account=${account.id}`}>{words.showRequests}</a>}
        />
      </Figures>
      <div>
        <Filters>
          <DayFilter name="from" label={words.from} otherwise={days.from} />
          <DayFilter name="to" label={words.to} otherwise={days.to} />
        </Filters>
        <Loaded of={spend}>
          {({ days, models }) => (
            <div class="grid">
              <Chart
                title={words.spendByDay}
                by={words.day}
                labels={days.map(({ day = '' }) => day)}
                series={[{ label: words.spent, values: days.map(day => day.revenue_usd) }]}
                show={money}
                kind="bars"
              />
              <Chart
                title={words.spendByModel}
                by={words.model}
                labels={models.map(({ model = '' }) => model)}
                series={[{ label: words.spent, values: models.map(model => model.revenue_usd) }]}
                show={money}
                kind="bars"
              />
            </div>
          )}
        </Loaded>
      </div>
      <AccountSettings account={account} onChange={onChange} />
    </div>
  )
}

const MS_A_DAY = 86_400_000
/** Without filters, the last days and today. */
const DAYS = 30
const GROUPS_MAX = 100

/** Days in UTC, as the gateway adds them up. `until` is the day after the last one, `to`. */
type Days = { readonly from: string; readonly to: string; readonly until: string }

function daysOf({ from, to }: Query, nowMs: number): Days {
  const last = to ?? dayOf(nowMs)
  const lastMs = Date.parse(last)
  return {
    from: from ?? dayOf(lastMs - (DAYS - 1) * MS_A_DAY),
    to: last,
    until: dayOf(lastMs + MS_A_DAY),
  }
}

function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 'yyyy-mm-dd'.length)
}

async function readSpend(account: Account['id'], { from, until }: Days) {
  const range = { account, from: `${from}T00:00:00Z`, to: `${until}T00:00:00Z`, limit: GROUPS_MAX }
  const margins = (by: 'day' | 'model') =>
    answer(api.GET('/admin/api/margins', { params: { query: { ...range, by } } }))
  const [byDay, byModel] = await Promise.all([margins('day'), margins('model')])
  const known = new Map(byDay.data.map(group => [group.day, group]))
  return {
    total: byDay.totals?.revenue_usd,
    charges: byDay.totals?.charges ?? 0,
    // Days without a charge are part of the picture.
    days: daysBetween(from, until).map(day => known.get(day) ?? { day, revenue_usd: '0' }),
    models: byModel.data,
  }
}

function daysBetween(from: string, until: string): readonly string[] {
  const first = Date.parse(from)
  const length = Math.max(0, Math.round((Date.parse(until) - first) / MS_A_DAY))
  return Array.from({ length }, (_, index) => dayOf(first + index * MS_A_DAY))
}
