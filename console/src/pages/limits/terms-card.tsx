/** Limits and budgets with what is used of them. */
import { useState } from 'preact/hooks'
import { Dialog } from '../../parts/dialog.tsx'
import { Card, Facts, Instant, Money } from '../../parts/facts.tsx'
import { ActionForm } from '../../parts/form.tsx'
import { count, nanosOf, percent } from '../../parts/format.ts'
import { Table, type Column } from '../../parts/table.tsx'
import { toast } from '../../parts/toast.tsx'
import { mayOperate } from '../../session.ts'
import { limitsTexts } from './texts.ts'
import { partsTexts } from '../../parts/texts.ts'
import { periods, rates, TermFields, termsIn, type Period, type Terms } from './term-fields.tsx'

const words = limitsTexts

type BudgetUse = {
  readonly spent_usd: string
  readonly reserved_usd: string
  readonly remaining_usd: string
  readonly resets_at: string | null
}

export type UsedTerms = Terms & { readonly budget_usage: Readonly<Partial<Record<Period, BudgetUse>>> }

/** `onSave` gets all limits and budgets; null removes one. */
export function TermsCard({
  title = words.title,
  terms,
  isClosed = false,
  onSave,
}: {
  readonly title?: string
  readonly terms: UsedTerms
  /** Nothing changes any more. */
  readonly isClosed?: boolean
  readonly onSave: (terms: Terms) => Promise<void>
}) {
  const [isEditing, setEditing] = useState(false)
  const edit = mayOperate() && !isClosed && (
    <button type="button" class="button small" onClick={() => setEditing(true)}>
      {words.edit}
    </button>
  )
  return (
    <Card title={title} actions={edit}>
      <TermsInUse terms={terms} />
      {isEditing && (
        <Dialog title={title} onClose={() => setEditing(false)}>
          <ActionForm
            submit={partsTexts.save}
            onCancel={() => setEditing(false)}
            onSubmit={async values => {
              await onSave(termsIn(values))
              toast(words.saved)
              setEditing(false)
            }}
          >
            <p class="soft">{words.emptyIsNone}</p>
            <TermFields terms={terms} />
          </ActionForm>
        </Dialog>
      )}
    </Card>
  )
}

function TermsInUse({ terms }: { readonly terms: UsedTerms }) {
  const rows = periods.flatMap(period => {
    const budget = terms.budgets[period]
    const use = terms.budget_usage[period]
    return budget === null || use === undefined ? [] : [{ period, budget, use }]
  })
  return (
    <div class="stack">
      <RateFacts terms={terms} />
      {rows.length === 0 ? (
        <p class="soft">{words.noBudgets}</p>
      ) : (
        <Table label={words.budgets} rows={rows} columns={budgetColumns} keyOf={({ period }) => period} />
      )}
    </div>
  )
}

export function RateFacts({ terms: { limits } }: { readonly terms: Terms }) {
  const shown = rates.map(rate => {
    const limit = limits[rate]
    return [
      words.rates[rate],
      limit === null ? <span class="soft">{words.none}</span> : count(limit),
    ] as const
  })
  return <Facts of={shown} />
}

type BudgetRow = { readonly period: Period; readonly budget: string; readonly use: BudgetUse }

const budgetColumns: readonly Column<BudgetRow>[] = [
  { label: words.budget, show: ({ period }) => words.periods[period] },
  { label: words.used, show: row => <Meter {...row} /> },
  { label: words.spent, isNumber: true, show: ({ use }) => <Money of={use.spent_usd} /> },
  { label: words.reserved, isNumber: true, show: ({ use }) => <Money of={use.reserved_usd} /> },
  { label: words.limit, isNumber: true, show: ({ budget }) => <Money of={budget} /> },
  {
    label: words.resets,
    show: ({ use }) => (use.resets_at === null ? words.never : <Instant at={use.resets_at} />),
  },
]

/** From this part of a budget on, it is shown as nearly used. */
const WARN_FROM = 0.8

/** A bar of the part of a budget that is spent or reserved. */
function Meter({ budget, use }: BudgetRow) {
  const whole = nanosOf(budget)
  const taken = nanosOf(use.spent_usd) + nanosOf(use.reserved_usd)
  // In thousandths, because a bar needs no more.
  const part = whole <= 0n ? 1 : Math.min(1, Number((taken * 1000n) / whole) / 1000)
  const tone = part >= 1 ? 'bad' : part >= WARN_FROM ? 'warn' : 'good'
  return (
    <span class="meter">
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect class="track" width="100" height="6" rx="3" />
        <rect class={tone} width={part * 100} height="6" rx="3" />
      </svg>
      <span class="number">{percent(part)}</span>
    </span>
  )
}
