/** The jobs that make images and clips, newest first. */
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { components, operations } from '../../api/schema.d.ts'
import { AccountFilter } from '../../parts/account-search.tsx'
import { Ago, Badge, Money } from '../../parts/facts.tsx'
import { ChoiceFilter, chosen, cursorOf, Filters, NoRows, useQuery } from '../../parts/filters.tsx'
import { exactInstant, zoned } from '../../parts/format.ts'
import { Empty, Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { accountColumn } from '../../parts/subject.tsx'
import { Pager, Table, type Column } from '../../parts/table.tsx'
import { jobsTexts } from './texts.ts'

const words = jobsTexts

type Job = components['schemas']['Job']
type Asked = NonNullable<operations['listJobs']['parameters']['query']>

export const jobTones = {
  queued: 'plain',
  processing: 'accent',
  unknown_submit: 'warn',
  completed: 'good',
  failed: 'bad',
} as const satisfies Record<Job['state'], string>

const states = Object.keys(jobTones) as readonly Job['state'][]
const filterNames = ['account', 'kind', 'state'] as const

const columns: readonly Column<Job>[] = [
  {
    label: zoned(words.created),
    show: ({ id, created_at: at }) => (
      <a href={`jobs/${id}`} title={id}>
        <time dateTime={at}>{exactInstant(at)}</time>
      </a>
    ),
  },
  {
    label: words.state,
    show: ({ state }) => <Badge tone={jobTones[state]}>{words.states[state]}</Badge>,
  },
  { label: words.kind, show: ({ kind }) => words.kinds[kind] },
  accountColumn(words.account, row => row),
  { label: words.model, show: ({ model }) => model },
  { label: words.provider, show: ({ provider }) => provider },
  { label: words.held, show: ({ held_usd: held }) => <Money of={held} />, isNumber: true },
  { label: words.cost, show: ({ cost_usd: cost }) => <Money of={cost} />, isNumber: true },
  { label: words.changed, show: ({ changed_at: at }) => <Ago at={at} /> },
]

export function Jobs() {
  const [query] = useQuery()
  const asked = { ...chosen(query, filterNames), ...cursorOf(query) } as Asked
  const jobs = useResource(
    JSON.stringify(asked),
    () => answer(api.GET('/admin/api/jobs', { params: { query: asked } })),
    { subject: 'jobs' },
  )
  return (
    <>
      <PageHead title={words.title} lead={words.lead} />
      <Filters>
        <AccountFilter label={words.account} />
        <ChoiceFilter
          name="state"
          label={words.state}
          choices={states.map(value => ({ value, label: words.states[value] }))}
        />
        <ChoiceFilter
          name="kind"
          label={words.kind}
          choices={(['image', 'video'] as const).map(value => ({ value, label: words.kinds[value] }))}
        />
      </Filters>
      <Loaded of={jobs}>
        {({ data, next }) =>
          data.length === 0 ? (
            <NoRows names={filterNames}>
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
