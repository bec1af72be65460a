/** The form of a model: what people edit most. All other fields of the row are in its JSON. */
import { useState } from 'preact/hooks'
import { CheckField, MoneyField, SelectField, TextField, type FormValues } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { editedRow, fieldOf, type Row } from '../../parts/row-form.tsx'
import { modelsTexts } from './texts.ts'
import { kinds, modeOf, optionalPrices, priceFields, type Kind, type PriceMode } from './prices.ts'

const words = modelsTexts

const engines = [
  'family-a',
  'family-b',
  'family-c',
  'family-d',
  'family-e',
  'family-f',
  'family-g',
  'storyboard',
]
const UPSTREAMS_MAX = 16

type Props = { readonly row: Row; readonly isNew: boolean; readonly providers: readonly string[] }

export function ModelFields({ row, isNew, providers }: Props) {
  const [kind, setKind] = useState(row['kind'] as Kind)
  const [count, setCount] = useState(Math.max(1, upstreamsOf(row).length))
  const [chosen, setChosen] = useState(() => upstreamsOf(row).map(upstream => fieldOf(upstream, 'provider')))
  // A new line begins with the first choice.
  const used = Array.from({ length: count }, (_, index) => chosen[index] ?? providers[0] ?? '')
  return (
    <>
      {isNew && (
        <div class="row-fields">
          <TextField
            label={words.id}
            name="id"
            hint={words.idHint}
            required
            maxLength={128}
            autoComplete="off"
          />
          <SelectField
            label={words.kind}
            name="kind"
            value={kind}
            choices={kinds.map(value => ({ value, label: words.kinds[value] }))}
            onChange={setKind}
          />
          {kind === 'video' && (
            <SelectField
              label={words.engine}
              name="engine"
              hint={words.engineHint}
              choices={engines.map(value => ({ value, label: value }))}
            />
          )}
        </div>
      )}
      <CheckField label={words.enabled} name="enabled" isChecked={row['enabled'] !== false} />
      <UpstreamFields row={row} providers={providers} used={used} onUsed={setChosen} onCount={setCount} />
      <PriceFields kind={kind} row={row} used={used} />
      <LimitFields kind={kind} row={row} />
    </>
  )
}

/** The providers of the model, with its name at each. */
function UpstreamFields({
  row,
  providers,
  used,
  onUsed,
  onCount,
}: Pick<Props, 'row' | 'providers'> & {
  /** The provider of each line. */
  readonly used: readonly string[]
  readonly onUsed: (used: string[]) => void
  readonly onCount: (count: number) => void
}) {
  const count = used.length
  return (
    <fieldset>
      <legend>{words.upstreams}</legend>
      <input type="hidden" name="upstream_count" value={count} />
      {used.map((provider, index) => (
        <UpstreamLine
          key={index}
          at={`upstreams[${index}]`}
          row={row}
          providers={providers}
          provider={provider}
          onProvider={value => onUsed(used.with(index, value))}
        />
      ))}
      <div class="row">
        <button
          type="button"
          class="button small"
          disabled={count >= UPSTREAMS_MAX}
          onClick={() => onCount(count + 1)}
        >
          <Icon name="plus" />
          {words.addUpstream}
        </button>
        {count > 1 && (
          <button type="button" class="button small" onClick={() => onCount(count - 1)}>
            {words.removeUpstream}
          </button>
        )}
      </div>
    </fieldset>
  )
}

function UpstreamLine({
  at,
  row,
  providers,
  provider,
  onProvider,
}: Pick<Props, 'row' | 'providers'> & {
  /** The path of the upstream in the row. */
  readonly at: string
  readonly provider: string
  readonly onProvider: (provider: string) => void
}) {
  return (
    <div class="row-fields">
      <SelectField
        label={words.provider}
        name={`${at}.provider`}
        value={provider}
        choices={providers.map(value => ({ value, label: value }))}
        onChange={onProvider}
      />
      <TextField
        label={words.upstreamModel}
        name={`${at}.model`}
        defaultValue={fieldOf(row, `${at}.model`)}
        autoComplete="off"
        required
      />
      <TextField
        label={words.order}
        name={`${at}.order`}
        type="number"
        min={1}
        max={1000}
        defaultValue={fieldOf(row, `${at}.order`)}
      />
    </div>
  )
}

type PriceProps = {
  readonly kind: Kind
  readonly row: Row
  /** The provider of each line. */
  readonly used: readonly string[]
}

function PriceFields({ kind, row, used }: PriceProps) {
  const [mode, setMode] = useState<PriceMode>(modeOf(row))
  const isText = kind === 'chat' || kind === 'embedding'
  const shown = isText ? mode : 'tariff'
  return (
    <fieldset>
      <legend>{words.prices}</legend>
      {isText && (
        <div class="row-fields">
          <SelectField
            label={words.mode}
            name="mode"
            value={mode}
            choices={(['tariff', 'free', 'upstream_cost'] as const).map(value => ({
              value,
              label: words.modes[value],
            }))}
            onChange={setMode}
          />
          {shown === 'upstream_cost' && (
            <TextField
              label={words.markup}
              name="markup"
              hint={words.markupHint}
              inputMode="decimal"
              defaultValue={fieldOf(row, 'markup') || '1'}
            />
          )}
        </div>
      )}
      {shown === 'tariff' && <TariffFields kind={kind} row={row} used={used} />}
      {shown === 'upstream_cost' && (
        <Prices
          title={words.ceiling}
          at="ceiling_pricing"
          names={['input_per_mtok', 'output_per_mtok']}
          row={row}
          isRequired={true}
        />
      )}
    </fieldset>
  )
}

/** Fixed prices, and what each provider bills for the same. */
function TariffFields({ kind, row, used }: PriceProps) {
  const names = priceFields(kind, row)
  return (
    <>
      <Prices title={words.customersPay} at="pricing" names={names} row={row} isRequired={true} />
      {used.map((provider, index) => (
        <Prices
          key={index}
          title={words.providerBills(provider)}
          at={`upstreams[${index}].cost`}
          names={names.filter(name => name !== 'max_per_image')}
          row={row}
          isRequired={false}
        />
      ))}
    </>
  )
}

function Prices({
  title,
  at,
  names,
  row,
  isRequired,
}: {
  readonly title: string
  readonly at: string
  readonly names: readonly string[]
  readonly row: Row
  readonly isRequired: boolean
}) {
  return (
    <div class="price-line" role="group" aria-label={title}>
      <h3>{title}</h3>
      <div class="row-fields">
        {names.map(name => (
          <MoneyField
            key={name}
            label={words.priceNames[name as keyof typeof words.priceNames]}
            name={`${at}.${name}`}
            defaultValue={fieldOf(row, `${at}.${name}`)}
            required={isRequired && !optionalPrices.has(name)}
          />
        ))}
      </div>
    </div>
  )
}

function LimitFields({ kind, row }: { readonly kind: Kind; readonly row: Row }) {
  if (kind === 'image') return null
  const names =
    kind === 'chat'
      ? (['max_output_tokens', 'context_window'] as const)
      : kind === 'embedding'
        ? (['context_window'] as const)
        : (['hold_duration_seconds'] as const)
  return (
    <fieldset>
      <legend>{words.limits}</legend>
      <div class="row-fields">
        {names.map(name => (
          <TextField
            key={name}
            label={words.limitNames[name]}
            name={name}
            type="number"
            min={1}
            hint={words.limitHints[name]}
            defaultValue={fieldOf(row, name)}
            required={name === 'max_output_tokens'}
          />
        ))}
      </div>
    </fieldset>
  )
}

function upstreamsOf(row: Row): readonly Row[] {
  return (row['upstreams'] ?? []) as readonly Row[]
}

/** The row that the form makes of a row. */
export function rowOfForm(base: Row, values: FormValues): Row {
  const { mode, enabled, upstream_count: count = '1', ...fields } = values
  const upstreams = upstreamsOf(base).slice(0, Number(count))
  const start: Row = { ...base, upstreams, enabled: enabled === 'on' }
  switch (mode as PriceMode | undefined) {
    case 'free':
      return { ...editedRow(withoutPrices(start), fields), pricing: 'free' }
    case 'upstream_cost':
      return { ...editedRow(start, fields), pricing: 'upstream_cost' }
    case 'tariff':
      return editedRow(modeOf(base) === 'tariff' ? start : withoutPrices(start), fields)
    case undefined:
      return editedRow(start, fields)
  }
}

function withoutPrices(priced: Row): Row {
  const { pricing: _, markup: __, ceiling_pricing: ___, ...row } = priced
  return row
}
