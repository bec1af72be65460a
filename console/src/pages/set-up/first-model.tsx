/** The first model of a provider: what the provider bills, a markup, and what customers then pay. */
import { useState } from 'preact/hooks'
import { ApiError } from '../../api/client.ts'
import { ActionForm, MoneyField, SelectField, TextField, type FormValues } from '../../parts/form.tsx'
import { money } from '../../parts/format.ts'
import { fieldOf, type Row } from '../../parts/row-form.tsx'
import { toast } from '../../parts/toast.tsx'
import { modelsTexts } from '../models/texts.ts'
import { setUpTexts } from './texts.ts'
import { rowsTexts } from '../../parts/texts.ts'
import { previewModel, readModel, storeModel, type ModelPreview } from '../models/model-calls.ts'
import { PreviewDialog } from '../models/model-preview.tsx'
import { withMargin } from '../models/prices.ts'

const words = setUpTexts

const mediaKinds = { image: ['per_image'], video: ['per_second'] } as const
const text = ['input_per_mtok', 'output_per_mtok'] as const
type SoldKind = 'chat' | keyof typeof mediaKinds

/** What a provider of this kind can sell; a first model is of one of these kinds. */
function soldKinds(kind: string): readonly SoldKind[] {
  if (kind === 'openai-compatible' || kind === 'anthropic') return ['chat']
  if (kind === 'openai-images' || kind === 'gemini-images') return ['image']
  if (kind === 'fal' || kind === 'replicate' || kind === 'runway' || kind === 'geminigen')
    return ['image', 'video']
  return ['video']
}

export function FirstModel({
  provider,
  onStored,
}: {
  readonly provider: Row
  readonly onStored: (id: string) => void
}) {
  const kinds = soldKinds(fieldOf(provider, 'kind'))
  const [kind, setKind] = useState<SoldKind>(kinds[0] ?? 'chat')
  const [costs, setCosts] = useState<Readonly<Record<string, string>>>({})
  const [percent, setPercent] = useState('25')
  const [shown, show] = useState<{ readonly row: Row; readonly preview: ModelPreview }>()
  const submit = async (values: FormValues) => {
    const row = firstRow({ provider: fieldOf(provider, 'id'), kind, costs, percent }, values)
    const id = fieldOf(row, 'id')
    const read = await readModel(id)
    if (read.row !== undefined) throw new ApiError(409, rowsTexts.taken(id), { param: 'id' })
    show({ row, preview: await previewModel(id, row, read) })
  }
  return (
    <>
      <ActionForm submit={words.preview} onSubmit={submit}>
        <NameFields kinds={kinds} kind={kind} onKind={setKind} />
        <PriceFields kind={kind} costs={costs} percent={percent} onCosts={setCosts} onPercent={setPercent} />
      </ActionForm>
      {shown !== undefined && (
        <PreviewDialog
          id={fieldOf(shown.row, 'id')}
          preview={shown.preview}
          onClose={() => show(undefined)}
          onStore={async () => {
            const id = fieldOf(shown.row, 'id')
            await storeModel(id, shown.row, { row: undefined, revision: shown.preview.revision })
            toast(modelsTexts.stored(id))
            onStored(id)
          }}
        />
      )}
    </>
  )
}

/** The names of the model at the provider and for customers, and what it makes. */
function NameFields({
  kinds,
  kind,
  onKind,
}: {
  readonly kinds: readonly SoldKind[]
  readonly kind: SoldKind
  readonly onKind: (kind: SoldKind) => void
}) {
  return (
    <div class="row-fields">
      <TextField
        label={modelsTexts.upstreamModel}
        name="upstreams[0].model"
        hint={words.upstreamHint}
        autoComplete="off"
        required
      />
      <TextField label={modelsTexts.id} name="id" hint={words.idHint} autoComplete="off" />
      {kinds.length > 1 && (
        <SelectField
          label={modelsTexts.kind}
          name="kind"
          value={kind}
          choices={kinds.map(value => ({ value, label: modelsTexts.kinds[value] }))}
          onChange={onKind}
        />
      )}
      {kind === 'video' && (
        <TextField
          label={modelsTexts.engine}
          name="engine"
          hint={modelsTexts.engineHint}
          defaultValue="family-c"
          required
        />
      )}
    </div>
  )
}

/** The costs, the margin on top of them, and for chat the limits. */
function PriceFields({
  kind,
  costs,
  percent,
  onCosts,
  onPercent,
}: Pick<Chosen, 'kind' | 'costs' | 'percent'> & {
  readonly onCosts: (costs: Chosen['costs']) => void
  readonly onPercent: (percent: string) => void
}) {
  const names = kind === 'chat' ? text : mediaKinds[kind]
  return (
    <div class="row-fields">
      {names.map(name => (
        <MoneyField
          key={name}
          label={words.cost(modelsTexts.priceNames[name])}
          name={`upstreams[0].cost.${name}`}
          required
          hint={priceHint(withMargin(costs[name] ?? '', percent))}
          onInput={event => onCosts({ ...costs, [name]: event.currentTarget.value.trim() })}
        />
      ))}
      <TextField
        label={words.markup}
        name="percent"
        inputMode="decimal"
        pattern="\d{1,4}(\.\d{1,3})?"
        defaultValue={percent}
        hint={words.markupHint}
        required
        onInput={event => onPercent(event.currentTarget.value.trim())}
      />
      {kind === 'chat' && (
        <>
          <TextField
            label={modelsTexts.limitNames.max_output_tokens}
            name="max_output_tokens"
            type="number"
            min={1}
            defaultValue="8192"
            hint={words.outputHint}
            required
          />
          <TextField
            label={modelsTexts.limitNames.context_window}
            name="context_window"
            type="number"
            min={1}
            defaultValue="128000"
            hint={words.contextHint}
            required
          />
        </>
      )}
    </div>
  )
}

function priceHint(price: string): string {
  return price === '' ? words.costHint : words.price(money(price))
}

type Chosen = {
  readonly provider: string
  readonly kind: SoldKind
  readonly costs: Readonly<Record<string, string>>
  readonly percent: string
}

function firstRow({ provider, kind, costs, percent }: Chosen, values: FormValues): Row {
  const upstreamModel = values['upstreams[0].model'] ?? ''
  const names = kind === 'chat' ? text : mediaKinds[kind]
  const cost = Object.fromEntries(names.map(name => [name, costs[name] ?? '']))
  const pricing = Object.fromEntries(names.map(name => [name, withMargin(costs[name] ?? '', percent)]))
  return {
    id: values['id'] || upstreamModel,
    kind,
    enabled: true,
    upstreams: [{ provider, model: upstreamModel, cost }],
    pricing,
    ...(kind === 'video' && { engine: values['engine'] }),
    ...(kind === 'chat' && {
      max_output_tokens: Number(values['max_output_tokens']),
      context_window: Number(values['context_window']),
    }),
  }
}
