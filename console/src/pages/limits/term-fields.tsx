/** The limits and budgets of an account, a project, a key or new keys, as fields of a form. */
import { MoneyField, TextField, type FormValues } from '../../parts/form.tsx'
import { limitsTexts } from './texts.ts'

const words = limitsTexts

export const rates = ['requests_per_minute', 'tokens_per_minute', 'concurrent_requests'] as const
export const periods = ['day', 'week', 'month', 'total'] as const
export type Rate = (typeof rates)[number]
export type Period = (typeof periods)[number]

/** Null does not limit. */
export type Limits = Readonly<Record<Rate, number | null>>
export type Budgets = Readonly<Record<Period, string | null>>
export type Terms = { readonly limits: Limits; readonly budgets: Budgets }

type Props = {
  readonly terms?: Terms
  /** The place of the fields in the body of the request, which is how the gateway names them in an error. */
  readonly prefix?: string
}

export function TermFields(props: Props) {
  return (
    <>
      <LimitFields {...props} />
      <BudgetFields {...props} />
    </>
  )
}

export function LimitFields({ terms, prefix = '' }: Props) {
  return (
    <fieldset class="fields">
      <legend>{words.limits}</legend>
      {rates.map(rate => (
        <TextField
          key={rate}
          label={words.rates[rate]}
          name={`${prefix}limits.${rate}`}
          inputMode="numeric"
          pattern="\d+"
          autoComplete="off"
          defaultValue={terms?.limits[rate]?.toString()}
        />
      ))}
    </fieldset>
  )
}

export function BudgetFields({ terms, prefix = '' }: Props) {
  return (
    <fieldset class="fields">
      <legend>{words.budgetsUsd}</legend>
      {periods.map(period => (
        <MoneyField
          key={period}
          label={words.periods[period]}
          name={`${prefix}budgets.${period}`}
          defaultValue={terms?.budgets[period] ?? undefined}
        />
      ))}
    </fieldset>
  )
}

/** The terms of the fields. An empty field is no limit. */
export function termsIn(values: FormValues, prefix = ''): Terms {
  const limitIn = (rate: Rate) => {
    const text = values[`${prefix}limits.${rate}`] ?? ''
    return text === '' ? null : Number(text)
  }
  const budgetIn = (period: Period) => values[`${prefix}budgets.${period}`] || null
  return {
    limits: {
      requests_per_minute: limitIn('requests_per_minute'),
      tokens_per_minute: limitIn('tokens_per_minute'),
      concurrent_requests: limitIn('concurrent_requests'),
    },
    budgets: {
      day: budgetIn('day'),
      week: budgetIn('week'),
      month: budgetIn('month'),
      total: budgetIn('total'),
    },
  }
}

type Named = { readonly limits?: Partial<Limits>; readonly budgets?: Partial<Budgets> }

/** Only the terms that are written, so that a new key has the defaults for all others. */
export function writtenTerms(values: FormValues): Named {
  const { limits, budgets } = termsIn(values)
  return { limits: withoutNull(limits), budgets: withoutNull(budgets) }
}

function withoutNull<Members extends object>(members: Members): Partial<Members> {
  const written = Object.entries(members).filter(([, value]) => value !== null)
  return Object.fromEntries(written) as Partial<Members>
}
