/** The settings in effect, and where each comes from. They are changed in the environment of the gateway. */
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { Badge, Tabs } from '../../parts/facts.tsx'
import { ChoiceFilter, Filters, NothingMatches, SearchFilter, useQuery } from '../../parts/filters.tsx'
import { Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { systemTabs } from '../../pages.ts'
import { settingsTexts } from './texts.ts'
import { navigationTexts } from '../../texts.ts'

const words = settingsTexts

type Setting = {
  readonly section: string
  readonly name: string
  readonly value: string | null
  readonly default: string | null
  readonly source: 'environment' | 'default'
  readonly meaning: string
}

const columns: readonly Column<Setting>[] = [
  {
    label: words.name,
    mayWrap: true,
    show: ({ name, meaning }) => (
      <>
        <code>{name}</code>
        <br />
        <span class="soft">
          <Meaning of={meaning} />
        </span>
      </>
    ),
    sortBy: ({ name }) => name,
  },
  { label: words.value, mayWrap: true, show: ({ value }) => <Value of={value} /> },
  { label: words.default, mayWrap: true, show: setting => <Value of={setting.default} /> },
  {
    label: words.source,
    show: ({ source }) => (
      <Badge tone={source === 'environment' ? 'accent' : 'plain'}>{words.sources[source]}</Badge>
    ),
    sortBy: ({ source }) => source,
  },
]

/** Names and values in a meaning are between backticks. */
function Meaning({ of: meaning }: { readonly of: string }) {
  return (
    <>{meaning.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>
  )
}

function Value({ of: value }: { readonly of: string | null }) {
  return value === null || value === '' ? <span class="soft">{words.none}</span> : <code>{value}</code>
}

export function Settings() {
  const [query] = useQuery()
  const settings = useResource('settings', () => answer(api.GET('/admin/api/settings')))
  const search = (query['search'] ?? '').toLowerCase()
  return (
    <>
      <PageHead title={words.title} lead={words.lead} />
      <Tabs label={navigationTexts.system} current="settings" tabs={systemTabs} />
      <Filters>
        <SearchFilter />
        <ChoiceFilter
          name="source"
          label={words.source}
          choices={(['environment', 'default'] as const).map(value => ({
            value,
            label: words.sources[value],
          }))}
        />
      </Filters>
      <Loaded of={settings}>
        {({ data }) => {
          const rows = data.filter(
            ({ name, meaning, source }) =>
              `${name} ${meaning}`.toLowerCase().includes(search) && (query['source'] ?? source) === source,
          )
          return rows.length === 0 ? (
            <NothingMatches names={['search', 'source']} text={words.emptyText} />
          ) : (
            [...Map.groupBy(rows, ({ section }) => section)].map(([section, ofSection]) => (
              <section class="section" key={section} aria-label={section}>
                <h2>{section}</h2>
                <Table label={section} rows={ofSection} columns={columns} keyOf={({ name }) => name} />
              </section>
            ))
          )
        }}
      </Loaded>
    </>
  )
}
