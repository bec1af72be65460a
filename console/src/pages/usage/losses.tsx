/** What providers billed and no customer pays for, newest first. */
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { Money, Tabs } from '../../parts/facts.tsx'
import { cursorOf, NoRows, useQuery } from '../../parts/filters.tsx'
import { exactInstant, zoned } from '../../parts/format.ts'
import { Empty, Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { accountColumn } from '../../parts/subject.tsx'
import { Pager, Table, type Column } from '../../parts/table.tsx'
import { lossesTexts, usageTexts } from './texts.ts'

const words = lossesTexts

type Loss = components['schemas']['Loss']

const columns: readonly Column<Loss>[] = [
  {
    label: zoned(words.time),
    show: ({ id, at }) => (
      <a href={`requests/${id}`} title={id}>
        <time dateTime={at}>{exactInstant(at)}</time>
      </a>
    ),
  },
  { label: words.kind, show: ({ kind }) => words.kinds[kind] },
  accountColumn(words.account, row => row),
  { label: words.model, show: ({ model }) => model },
  { label: words.provider, show: ({ provider }) => provider },
  { label: words.reason, show: ({ reason }) => reason, mayWrap: true },
  { label: words.loss, show: ({ loss_usd: loss }) => <Money of={loss} />, isNumber: true },
  {
    label: words.providerCost,
    show: ({ provider_cost_usd: cost }) => <Money of={cost} />,
    isNumber: true,
  },
]

/** The two lists of what was used. */
export function UsageTabs({ current }: { readonly current: 'usage' | 'usage/losses' }) {
  return (
    <Tabs
      label={usageTexts.title}
      current={current}
      tabs={[
        { href: 'usage', label: usageTexts.title },
        { href: 'usage/losses', label: words.title },
      ]}
    />
  )
}

export function Losses() {
  const [query] = useQuery()
  const losses = useResource(query['cursor'] ?? '', () =>
    answer(api.GET('/admin/api/losses', { params: { query: cursorOf(query) } })),
  )
  return (
    <>
      <PageHead title={words.title} lead={words.lead} />
      <UsageTabs current="usage/losses" />
      <Loaded of={losses}>
        {({ data, next }) =>
          data.length === 0 ? (
            <NoRows names={[]}>
              <Empty title={words.empty} text={words.emptyText} />
            </NoRows>
          ) : (
            <>
              <Table label={words.title} rows={data} columns={columns} keyOf={({ id }) => id} />
              <Pager next={next} shown={data.length} />
            </>
          )
        }
      </Loaded>
    </>
  )
}
