/** All models with their prices: the price list of the business. */
import { useResource } from '../../api/resource.ts'
import { Badge, Tabs } from '../../parts/facts.tsx'
import {
  ChoiceFilter,
  Filters,
  NothingMatches,
  SearchFilter,
  useQuery,
  type Query,
} from '../../parts/filters.tsx'
import { percent } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { Empty, Loaded, Note } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import type { Row } from '../../parts/row-form.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { mayOperate } from '../../session.ts'
import { catalogTabs } from '../../pages.ts'
import { modelsTexts } from './texts.ts'
import { navigationTexts } from '../../texts.ts'
import { readModels, readProviders } from './model-calls.ts'
import { kinds, marginOf, priceText, type Kind } from './prices.ts'

const words = modelsTexts

type Listed = {
  readonly id: string
  readonly kind: Kind
  readonly providers: readonly string[]
  readonly isOn: boolean
  readonly problem: string | undefined
  readonly row: Row
}

const columns: readonly Column<Listed>[] = [
  {
    label: words.model,
    show: ({ id }) => <a href={`models/${encodeURIComponent(id)}`}>{id}</a>,
    sortBy: ({ id }) => id,
  },
  { label: words.kind, show: ({ kind }) => words.kinds[kind], sortBy: ({ kind }) => kind },
  {
    label: words.provider,
    show: ({ providers }) => providers.join(', '),
    sortBy: ({ providers }) => providers.join(' '),
  },
  { label: words.price, show: ({ row }) => <span class="number">{priceText(row)}</span> },
  {
    label: words.margin,
    isNumber: true,
    show: ({ row }) => <Margin of={row} />,
    sortBy: ({ row }) => marginOf(row)?.fraction ?? Number.NEGATIVE_INFINITY,
  },
  { label: words.state, mayWrap: true, show: model => <State of={model} />, sortBy: model => stateOf(model) },
]

export function Models() {
  const [query] = useQuery()
  const models = useResource('models', async () => {
    const [listed, { data: providers }] = await Promise.all([readModels(), readProviders()])
    return { models: listedModels(listed), hasProvider: providers.some(({ kind }) => kind !== 'sandbox') }
  })
  const add = mayOperate() && (
    <a class="button primary" href="models/new">
      <Icon name="plus" />
      {words.add}
    </a>
  )
  return (
    <>
      <PageHead title={words.title} lead={words.lead}>
        {add}
      </PageHead>
      <Tabs label={navigationTexts.models} current="models" tabs={catalogTabs} />
      <Loaded of={models}>
        {({ models: all, hasProvider }) => (
          <div class="stack">
            {!hasProvider && <Newcomer />}
            {all.length === 0 ? (
              <Empty title={words.empty} text={words.emptyText}>
                {add}
              </Empty>
            ) : (
              <List models={all} query={query} />
            )}
          </div>
        )}
      </Loaded>
    </>
  )
}

function listedModels({ data, uncallable }: Awaited<ReturnType<typeof readModels>>): readonly Listed[] {
  const reasons = new Map(uncallable.map(({ id, reason }) => [id, reason]))
  return data.map(row => ({
    id: row.id,
    kind: row.kind,
    providers: [...new Set(row.upstreams.map(({ provider }) => provider))],
    isOn: row.enabled,
    problem: reasons.get(row.id),
    row,
  }))
}

function List({ models, query }: { readonly models: readonly Listed[]; readonly query: Query }) {
  const shown = models.filter(model => matches(model, query))
  const providers = [...new Set(models.flatMap(model => model.providers))].sort()
  return (
    <div>
      <Filters>
        <SearchFilter />
        <ChoiceFilter
          name="kind"
          label={words.kind}
          choices={kinds.map(value => ({ value, label: words.kinds[value] }))}
        />
        <ChoiceFilter
          name="provider"
          label={words.provider}
          choices={providers.map(value => ({ value, label: value }))}
        />
        <ChoiceFilter
          name="state"
          label={words.state}
          choices={states.map(value => ({ value, label: words.states[value] }))}
        />
      </Filters>
      {shown.length === 0 ? (
        <NothingMatches names={['search', 'kind', 'provider', 'state']} text={words.nothingText} />
      ) : (
        <Table label={words.title} rows={shown} columns={columns} keyOf={({ id }) => id} />
      )}
    </div>
  )
}

function matches(model: Listed, { search = '', kind, provider, state }: Query): boolean {
  return (
    model.id.toLowerCase().includes(search.toLowerCase()) &&
    (kind === undefined || model.kind === kind) &&
    (provider === undefined || model.providers.includes(provider)) &&
    (state === undefined || stateOf(model) === state)
  )
}

const states = ['on', 'off', 'uncallable'] as const

function stateOf({ isOn, problem }: Listed): (typeof states)[number] {
  if (!isOn) return 'off'
  return problem === undefined ? 'on' : 'uncallable'
}

const tones = { on: 'good', off: 'plain', uncallable: 'bad' } as const

function State({ of: model }: { readonly of: Listed }) {
  const state = stateOf(model)
  return (
    <>
      <Badge tone={tones[state]}>{words.states[state]}</Badge>
      {model.problem !== undefined && <span class="why">{model.problem}</span>}
    </>
  )
}

export function Margin({ of: row }: { readonly of: Row }) {
  const margin = marginOf(row)
  if (margin === null) return <span title={words.marginUnknown}>–</span>
  return <span title={words.marginAt(margin.provider)}>{percent(margin.fraction)}</span>
}

/** A gateway that only has the sandbox sells nothing yet. */
export function Newcomer() {
  return (
    <Note>
      {words.newcomer} {mayOperate() && <a href="set-up">{words.setUp}</a>}
    </Note>
  )
}
