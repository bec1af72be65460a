/** All recorded requests: who sent them, how they ended, how long they took and what they cost. */
import { useLocation } from 'preact-iso'
import { answer, api } from '../../api/client.ts'
import { listRange } from '../../api/days.ts'
import { useResource } from '../../api/resource.ts'
import type { components, operations } from '../../api/schema.d.ts'
import { pagePath } from '../../base.ts'
import { AccountFilter } from '../../parts/account-search.tsx'
import type { CsvColumn } from '../../parts/csv.ts'
import { Badge, Money, type BadgeTone } from '../../parts/facts.tsx'
import { DayFilter } from '../../parts/day-filter.tsx'
import {
  ChoiceFilter,
  chosen,
  cursorOf,
  Filters,
  MoreFilters,
  NoRows,
  TextFilter,
  useQuery,
  type Query,
} from '../../parts/filters.tsx'
import { exactInstant, milliseconds, zoned } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { Empty, Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { SaveListButton } from '../../parts/save-list.tsx'
import { accountColumn } from '../../parts/subject.tsx'
import { Pager, Table, type Column } from '../../parts/table.tsx'
import { requestsTexts } from './texts.ts'

const words = requestsTexts

export type RecordedRequest = components['schemas']['AdminRequest']
type Asked = NonNullable<operations['listAdminRequests']['parameters']['query']>

const filterNames = ['account', 'key', 'project', 'model', 'user', 'tag', 'code', 'status'] as const
const rareFilters = ['key', 'project', 'user', 'tag', 'code', 'from', 'to'] as const
const allFilters = [...filterNames, 'failed', 'from', 'to']

const columns: readonly Column<RecordedRequest>[] = [
  {
    label: zoned(words.time),
    show: ({ id, created_at: at }) => (
      <a href={`requests/${id}`} title={id}>
        <time dateTime={at}>{exactInstant(at)}</time>
      </a>
    ),
  },
  accountColumn(words.account, row => row),
  { label: words.model, show: ({ model }) => model ?? '–' },
  { label: words.route, show: ({ route }) => <span class="soft">{route}</span> },
  { label: words.result, show: request => <Result of={request} /> },
  { label: words.duration, show: ({ duration_ms: ms }) => milliseconds(ms), isNumber: true },
  { label: words.firstByte, show: ({ first_byte_ms: ms }) => milliseconds(ms), isNumber: true },
  { label: words.cost, show: ({ cost_usd: cost }) => <Money of={cost} />, isNumber: true },
]

export function Requests() {
  const [query] = useQuery()
  const asked = askedBy(query)
  const requests = useResource(
    JSON.stringify([asked, query['cursor']]),
    () => answer(api.GET('/admin/api/requests', { params: { query: { ...asked, ...cursorOf(query) } } })),
    { subject: 'requests' },
  )
  return (
    <>
      <PageHead title={words.title} lead={words.lead}>
        <SaveListButton
          name="requests"
          columns={saved}
          read={page => answer(api.GET('/admin/api/requests', { params: { query: { ...asked, ...page } } }))}
        />
      </PageHead>
      <Find />
      <RequestFilters />
      <Loaded of={requests}>
        {({ data, next }) =>
          data.length === 0 ? (
            <NoRows names={allFilters}>
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

function askedBy(query: Query): Asked {
  const { failed, sort } = query
  return {
    ...(chosen(query, filterNames) as Asked),
    ...(failed === 'true' && { failed }),
    ...((sort === 'cost' || sort === 'duration') && { sort }),
    ...listRange(query),
  }
}

/** What the gateway accepts. It refuses any other text, such as an id that is still being typed. */
const formats = {
  status: { pattern: '[1-5][0-9]{2}', problem: words.formats.status },
  key: { pattern: 'key_[0-9a-z]{26}|(?!key_).{12}', problem: words.formats.key },
  project: { pattern: 'proj_[0-9a-z]{26}', problem: words.formats.project },
  tag: { pattern: '[^=,]+=[^,]+', problem: words.formats.tag },
  code: { pattern: '[\\w.\\-]+', problem: words.formats.code },
} as const

function RequestFilters() {
  return (
    <>
      <Filters>
        <AccountFilter label={words.account} />
        <TextFilter name="model" label={words.model} />
        <ChoiceFilter
          name="failed"
          label={words.result}
          choices={[{ value: 'true', label: words.onlyFailed }]}
        />
        <TextFilter name="status" label={words.status} placeholder="429" format={formats.status} />
        <ChoiceFilter
          name="sort"
          label={words.order}
          otherwise={words.orders.newest}
          choices={(['cost', 'duration'] as const).map(value => ({ value, label: words.orders[value] }))}
        />
      </Filters>
      <MoreFilters names={rareFilters}>
        <TextFilter name="key" label={words.key} placeholder="key_…" format={formats.key} />
        <TextFilter name="project" label={words.project} placeholder="proj_…" format={formats.project} />
        <TextFilter name="user" label={words.user} />
        <TextFilter name="tag" label={words.tag} placeholder="team=search" format={formats.tag} />
        <TextFilter name="code" label={words.code} placeholder="insufficient_balance" format={formats.code} />
        <DayFilter name="from" label={words.from} zone="browser" />
        <DayFilter name="to" label={words.to} zone="browser" />
      </MoreFilters>
    </>
  )
}

/** Opens the page of any id: of a request, a job, a hold, or a line of a statement. */
function Find() {
  const { route } = useLocation()
  return (
    <form
      class="find"
      onSubmit={event => {
        event.preventDefault()
        const id = new FormData(event.currentTarget).get('id')
        if (typeof id === 'string' && id.trim() !== '')
          route(pagePath(`requests/${encodeURIComponent(id.trim())}`))
      }}
    >
      <input
        class="input"
        type="search"
        name="id"
        aria-label={words.find}
        placeholder={words.findHint}
        required
      />
      <button type="submit" class="button">
        <Icon name="search" />
        {words.open}
      </button>
    </form>
  )
}

/** How a request ended, as the client saw it. */
export function Result({ of }: { readonly of: RecordedRequest }) {
  const { status, error_code: code, is_replay: isReplay } = of
  const failed = code === null ? undefined : <span class="soft">{code}</span>
  return (
    <span class="result">
      <Badge tone={toneOf(of)}>{status}</Badge> {isReplay ? <span class="soft">{words.replay}</span> : failed}
    </span>
  )
}

function toneOf({ status, error_code: code }: RecordedRequest): BadgeTone {
  if (status >= 500 || (status < 400 && code !== null)) return 'bad'
  return status >= 400 ? 'warn' : 'good'
}

const saved: readonly CsvColumn<RecordedRequest>[] = [
  ['id', ({ id }) => id],
  ['created_at', request => request.created_at],
  ['account', ({ account }) => account],
  ['account_name', request => request.account_name],
  ['key', ({ key }) => key],
  ['project', ({ project }) => project],
  ['route', ({ route }) => route],
  ['model', ({ model }) => model],
  ['status', ({ status }) => status],
  ['error_code', request => request.error_code],
  ['duration_ms', request => request.duration_ms],
  ['first_byte_ms', request => request.first_byte_ms],
  ['held_usd', request => request.held_usd],
  ['cost_usd', request => request.cost_usd],
  ['user', ({ user }) => user],
  [
    'tags',
    ({ tags }) =>
      Object.entries(tags)
        .map(pair => pair.join('='))
        .join(' '),
  ],
  ['job', ({ job }) => job],
]
