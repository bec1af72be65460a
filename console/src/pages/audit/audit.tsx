/** Who changed what, newest first. */
import { answer, api } from '../../api/client.ts'
import { listRange } from '../../api/days.ts'
import { useResource } from '../../api/resource.ts'
import type { components, operations } from '../../api/schema.d.ts'
import { DayFilter } from '../../parts/day-filter.tsx'
import { ListedInstant } from '../../parts/facts.tsx'
import {
  ChoiceFilter,
  chosen,
  cursorOf,
  Filters,
  NoRows,
  TextFilter,
  useQuery,
} from '../../parts/filters.tsx'
import { zoned } from '../../parts/format.ts'
import { Empty, Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Actor, Linked, pageIn, pageOfId } from '../../parts/subject.tsx'
import { Pager, Table, type Column } from '../../parts/table.tsx'
import { auditTexts } from './texts.ts'

const words = auditTexts

type Line = components['schemas']['AuditRow']
type Asked = NonNullable<operations['listAudit']['parameters']['query']>

const textFilters = ['actor', 'action', 'subject'] as const

/** What actions are about: the words before their dots. */
const objects = Object.keys(words.objects) as readonly (keyof typeof words.objects)[]

const columns: readonly Column<Line>[] = [
  { label: zoned(words.time), show: ({ at }) => <ListedInstant at={at} /> },
  { label: words.actor, show: ({ actor }) => <Actor name={actor} /> },
  { label: words.action, show: ({ action }) => action },
  { label: words.subject, show: line => <AuditSubject line={line} /> },
  {
    label: words.detail,
    show: ({ detail }) => (detail === null ? '–' : <Linked text={detail} />),
    mayWrap: true,
  },
]

export function Audit() {
  const [query] = useQuery()
  const asked = { ...chosen(query, textFilters), ...listRange(query), ...cursorOf(query) } as Asked
  const lines = useResource(
    JSON.stringify(asked),
    () => answer(api.GET('/admin/api/audit', { params: { query: asked } })),
    { subject: 'audit' },
  )
  return (
    <>
      <PageHead title={words.title} lead={words.lead} />
      <Filters>
        <TextFilter name="actor" label={words.actor} placeholder={words.actorHint} />
        <ChoiceFilter
          name="action"
          label={words.about}
          choices={objects.map(value => ({ value, label: words.objects[value] }))}
        />
        <TextFilter name="subject" label={words.subject} placeholder={words.subjectHint} />
        <DayFilter name="from" label={words.from} zone="browser" />
        <DayFilter name="to" label={words.to} zone="browser" />
      </Filters>
      <Loaded of={lines}>
        {({ data, next }) =>
          data.length === 0 ? (
            <NoRows names={[...textFilters, 'from', 'to']}>
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

/** The folders of pages about what is named, and has no id of its own. */
const folderOf: Readonly<Record<string, string>> = {
  model: 'models',
  provider: 'providers',
  price_list: 'price-lists',
}

function AuditSubject({ line: { action, subject } }: { readonly line: Line }) {
  const folder = folderOf[action.split('.')[0] ?? '']
  const href = folder === undefined ? pageOfId(subject) : pageIn(folder, subject)
  return href === undefined ? <>{subject}</> : <a href={href}>{subject}</a>
}
