/** What new keys begin with: the defaults of the gateway, and those of an account before them. */
import { useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Card, Facts, Money } from '../../parts/facts.tsx'
import { ActionForm, SelectField, TextField, type FormValues } from '../../parts/form.tsx'
import { count } from '../../parts/format.ts'
import { Loaded } from '../../parts/notes.tsx'
import { toast } from '../../parts/toast.tsx'
import { mayOperate } from '../../session.ts'
import { keysTexts } from './texts.ts'
import { limitsTexts } from '../limits/texts.ts'
import { partsTexts } from '../../parts/texts.ts'
import { periods, rates, TermFields, termsIn } from '../limits/term-fields.tsx'
import { restrictionFacts, RestrictionFields, restrictionsIn } from './key-fields.tsx'

const words = keysTexts

export type Defaults = Omit<components['schemas']['KeyDefaults'], 'warnings'>

/** The defaults of the gateway. */
export function GatewayDefaults() {
  const defaults = useResource('defaults', () => answer(api.GET('/admin/api/key-defaults')))
  return (
    <Loaded of={defaults}>
      {value => (
        <DefaultsCard
          defaults={value}
          text={words.gatewayDefaultsText}
          onSave={async body => {
            const { warnings = [] } = await answer(api.PATCH('/admin/api/key-defaults', { body }))
            for (const warning of warnings) toast(warning, 'warn')
            defaults.reload()
          }}
        />
      )}
    </Loaded>
  )
}

export function DefaultsCard({
  defaults,
  text,
  prefix = '',
  isClosed = false,
  onSave,
}: {
  readonly defaults: Defaults
  readonly text: string
  /** The place of the defaults in the body of the request. */
  readonly prefix?: string
  readonly isClosed?: boolean
  readonly onSave: (defaults: Defaults) => Promise<void>
}) {
  const [isEditing, setEditing] = useState(false)
  const edit = mayOperate() && !isClosed && (
    <button type="button" class="button small" onClick={() => setEditing(true)}>
      {words.editDefaults}
    </button>
  )
  return (
    <Card title={words.defaults} actions={edit}>
      <div class="stack">
        <p class="soft">{text}</p>
        <Facts of={factsOf(defaults, prefix === '')} />
      </div>
      {isEditing && (
        <Dialog title={words.defaults} isWide onClose={() => setEditing(false)}>
          <ActionForm
            submit={partsTexts.save}
            onCancel={() => setEditing(false)}
            onSubmit={async values => {
              await onSave({
                ...termsIn(values, prefix),
                ...restrictionsIn(values, prefix),
                expires_in: secondsIn(values, prefix),
              })
              toast(words.defaultsSaved)
              setEditing(false)
            }}
          >
            <p class="soft">{text}</p>
            <LifeFields seconds={defaults.expires_in} prefix={prefix} />
            <RestrictionFields restrictions={defaults} prefix={prefix} />
            <TermFields terms={defaults} prefix={prefix} />
          </ActionForm>
        </Dialog>
      )}
    </Card>
  )
}

/** An account has the defaults of the gateway where it has none. */
function factsOf(defaults: Defaults, isGateway: boolean) {
  const { limits, budgets, expires_in: seconds } = defaults
  return [
    [words.life, seconds === null ? (isGateway ? words.never : words.inherited) : lifeText(seconds)],
    ...restrictionFacts(defaults, isGateway ? words.every : words.inherited),
    ...rates.flatMap(rate => {
      const limit = limits[rate]
      return limit === null ? [] : [[limitsTexts.rates[rate], count(limit)] as const]
    }),
    ...periods.flatMap(period =>
      budgets[period] === null
        ? []
        : [[limitsTexts.budgetOf[period], <Money of={budgets[period]} />] as const],
    ),
  ] as const
}

const units = { days: 86_400, hours: 3600, minutes: 60, seconds: 1 } as const
type Unit = keyof typeof units
const unitNames = ['days', 'hours', 'minutes', 'seconds'] as const satisfies readonly Unit[]

/** The largest unit in which the time is a whole number. */
function unitOf(seconds: number): Unit {
  return unitNames.find(unit => seconds % units[unit] === 0) ?? 'seconds'
}

function lifeText(seconds: number): string {
  const unit = unitOf(seconds)
  return `${count(seconds / units[unit])} ${words.units[unit]}`
}

function LifeFields({ seconds, prefix }: { readonly seconds: number | null; readonly prefix: string }) {
  const unit = unitOf(seconds ?? 0)
  return (
    <div class="fields">
      <TextField
        label={words.life}
        name={`${prefix}expires_in`}
        inputMode="numeric"
        pattern="\d+"
        hint={words.lifeHint}
        autoComplete="off"
        defaultValue={seconds === null ? undefined : String(seconds / units[unit])}
      />
      <SelectField
        label={words.unit}
        name={`${prefix}expires_in_unit`}
        value={unit}
        choices={unitNames.map(value => ({ value, label: words.units[value] }))}
      />
    </div>
  )
}

function secondsIn(values: FormValues, prefix: string): number | null {
  const text = values[`${prefix}expires_in`] ?? ''
  const unit = unitNames.find(name => name === values[`${prefix}expires_in_unit`]) ?? 'seconds'
  return text === '' ? null : Number(text) * units[unit]
}
