/** The way of a newcomer: a provider with its key, a test of it, and a first model with a margin. */
import { useLocation } from 'preact-iso'
import { useState } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import { ApiError } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { pagePath } from '../../base.ts'
import { Card } from '../../parts/facts.tsx'
import { useQuery } from '../../parts/filters.tsx'
import { ActionForm, MoneyField, SelectField, TextField, type FormValues } from '../../parts/form.tsx'
import { money } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { Empty, Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { fieldOf, type Row } from '../../parts/row-form.tsx'
import { toast } from '../../parts/toast.tsx'
import { hasRole } from '../../session.ts'
import { texts } from '../../texts.ts'
import { previewModel, readModel, storeModel, type ModelPreview } from '../models/model-calls.ts'
import { PreviewDialog } from '../models/model-preview.tsx'
import { withMargin } from '../models/prices.ts'
import { NewProviderForm } from '../providers/provider.tsx'
import { readProviders } from '../providers/provider-calls.ts'
import { TestCall } from '../providers/provider-state.tsx'

const words = texts.setUp

/** The provider is in the address, so that a reload goes on at the same step. */
export function SetUp() {
  const [query, change] = useQuery()
  const providers = useResource(`set-up ${query['provider'] ?? ''}`, readProviders)
  return (
    <>
      <PageHead title={words.title} lead={words.lead} />
      <Loaded of={providers}>
        {({ data }) => {
          const real = data.filter(({ kind }) => kind !== 'sandbox')
          const chosen = real.find(({ id }) => id === query['provider'])
          const isTested = query['tested'] === 'yes'
          return (
            <ol class="set-up">
              <Step
                number={1}
                title={words.provider}
                isCurrent={chosen === undefined}
                isDone={chosen !== undefined}
              >
                {chosen === undefined ? (
                  <ChooseProvider
                    ids={real.map(({ id }) => id)}
                    onChosen={id => change({ provider: id }, 'push')}
                  />
                ) : (
                  <p class="row">
                    <a href={`providers/${encodeURIComponent(chosen.id)}`}>{chosen.id}</a>
                    <button
                      type="button"
                      class="button small"
                      onClick={() => change({ provider: '', tested: '' })}
                    >
                      {words.another}
                    </button>
                  </p>
                )}
              </Step>
              <Step
                number={2}
                title={words.test}
                isCurrent={chosen !== undefined && !isTested}
                isDone={isTested}
              >
                <p class="soft">{words.testText}</p>
                {chosen !== undefined && (
                  <>
                    <TestCall id={chosen.id} onOk={() => change({ tested: 'yes' })} />
                    <p>{words.testFailed}</p>
                  </>
                )}
              </Step>
              <Step number={3} title={words.model} isCurrent={isTested} isDone={false}>
                <p class="soft">{words.modelText}</p>
                {chosen !== undefined && <FirstModel key={chosen.id} provider={chosen} />}
              </Step>
            </ol>
          )
        }}
      </Loaded>
    </>
  )
}

function Step({
  number,
  title,
  isCurrent,
  isDone,
  children,
}: {
  readonly number: number
  readonly title: string
  readonly isCurrent: boolean
  readonly isDone: boolean
  readonly children: ComponentChildren
}) {
  return (
    <li class={isDone ? 'is-done' : undefined} aria-current={isCurrent ? 'step' : undefined}>
      <span class="mark" aria-hidden="true">
        {isDone ? <Icon name="check" /> : number}
      </span>
      <Card title={isDone ? words.done(title) : title}>
        <div class="stack">{children}</div>
      </Card>
    </li>
  )
}

function ChooseProvider({
  ids,
  onChosen,
}: {
  readonly ids: readonly string[]
  readonly onChosen: (id: string) => void
}) {
  return (
    <>
      {ids.length > 0 && (
        <div class="row">
          <span class="soft">{words.use}</span>
          {ids.map(id => (
            <button key={id} type="button" class="button small" onClick={() => onChosen(id)}>
              {id}
            </button>
          ))}
        </div>
      )}
      {hasRole('owner') ? (
        <NewProviderForm onStored={onChosen} />
      ) : (
        ids.length === 0 && <Empty title={words.needsOwner} text={words.needsOwnerText} />
      )}
    </>
  )
}

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

function FirstModel({ provider }: { readonly provider: Row }) {
  const kinds = soldKinds(fieldOf(provider, 'kind'))
  const [kind, setKind] = useState<SoldKind>(kinds[0] ?? 'chat')
  const [costs, setCosts] = useState<Readonly<Record<string, string>>>({})
  const [percent, setPercent] = useState('25')
  const [shown, show] = useState<{ readonly row: Row; readonly preview: ModelPreview }>()
  const { route } = useLocation()
  const submit = async (values: FormValues) => {
    const row = firstRow({ provider: fieldOf(provider, 'id'), kind, costs, percent }, values)
    const id = fieldOf(row, 'id')
    const read = await readModel(id)
    if (read.row !== undefined) throw new ApiError(409, texts.rows.taken(id), { param: 'id' })
    show({ row, preview: await previewModel(id, row, read) })
  }
  return (
    <>
      <ActionForm submit={texts.rows.preview} onSubmit={submit}>
        <div class="row-fields">
          <TextField
            label={texts.models.upstreamModel}
            name="upstreams[0].model"
            hint={words.upstreamHint}
            autoComplete="off"
            required
          />
          <TextField label={texts.models.id} name="id" hint={words.idHint} autoComplete="off" />
          {kinds.length > 1 && (
            <SelectField
              label={texts.models.kind}
              name="kind"
              value={kind}
              choices={kinds.map(value => ({ value, label: texts.models.kinds[value] }))}
              onChange={setKind}
            />
          )}
          {kind === 'video' && (
            <TextField
              label={texts.models.engine}
              name="engine"
              hint={texts.models.engineHint}
              defaultValue="family-c"
              required
            />
          )}
        </div>
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
            toast(texts.models.stored(id))
            route(pagePath(`models/${encodeURIComponent(id)}`))
          }}
        />
      )}
    </>
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
          label={words.cost(texts.models.priceNames[name])}
          name={`upstreams[0].cost.${name}`}
          required
          hint={words.price(money(withMargin(costs[name] ?? '', percent) || null))}
          onInput={event => onCosts({ ...costs, [name]: event.currentTarget.value.trim() })}
        />
      ))}
      <TextField
        label={words.margin}
        name="percent"
        inputMode="decimal"
        pattern="\d{1,4}(\.\d{1,3})?"
        defaultValue={percent}
        hint={words.marginHint}
        required
        onInput={event => onPercent(event.currentTarget.value.trim())}
      />
      {kind === 'chat' && (
        <>
          <TextField
            label={texts.models.limitNames.max_output_tokens}
            name="max_output_tokens"
            type="number"
            min={1}
            defaultValue="8192"
            hint={texts.models.limitHints.max_output_tokens}
            required
          />
          <TextField
            label={texts.models.limitNames.context_window}
            name="context_window"
            type="number"
            min={1}
            defaultValue="128000"
            hint={texts.models.limitHints.context_window}
            required
          />
        </>
      )}
    </div>
  )
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
