/** The money of an account: its balance, what it spends by day and by model, and its settings. */
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { betweenDays, daysIn, lastDays, type UtcRange } from '../../api/utc-days.ts'
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
  const range = rangeOf(query)
  const shown = daysIn(range)
  const spend = useResource(`${account.id} ${range.from} ${range.to}`, () => readSpend(account.id, range))
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
          <DayFilter name="from" label={words.from} otherwise={shown.at(0)} />
          <DayFilter name="to" label={words.to} otherwise={shown.at(-1)} />
        </Filters>
        <Loaded of={spend}>
          {({ days, models }) => (
            <div class="grid">
              <Chart
                title={words.spendByDay}
                by={words.day}
                labels={days.map(({ day }) => day)}
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
                kind="rows"
              />
            </div>
          )}
        </Loaded>
      </div>
      <AccountSettings account={account} onChange={onChange} />
    </div>
  )
}

/** Without filters, the last days and today. */
const DAYS = 30
const GROUPS_MAX = 100

/** The days of the filters, which the gateway adds up in UTC. */
function rangeOf({ from, to }: Query): UtcRange {
  const last = to === undefined ? Date.now() : Date.parse(to)
  return { ...lastDays(DAYS, last), ...betweenDays(from, to) }
}

async function readSpend(account: Account['id'], range: UtcRange) {
  const margins = (by: 'day' | 'model') =>
    answer(api.GET('/admin/api/margins', { params: { query: { account, by, ...range, limit: GROUPS_MAX } } }))
  const [byDay, byModel] = await Promise.all([margins('day'), margins('model')])
  const spent = new Map(byDay.data.map(group => [group.day, group.revenue_usd]))
  return {
    total: byDay.totals?.revenue_usd,
    charges: byDay.totals?.charges ?? 0,
    // Days without a charge are part of the picture.
    days: daysIn(range).map(day => ({ day, revenue_usd: spent.get(day) ?? '0' })),
    models: byModel.data,
  }
}
