/** The gateways that share the books. */
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { Ago, Badge, Tabs } from '../../parts/facts.tsx'
import { count, milliseconds } from '../../parts/format.ts'
import { Empty, Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { systemTabs } from '../../pages.ts'
import { nodesTexts } from './texts.ts'
import { navigationTexts } from '../../texts.ts'

const words = nodesTexts

type Node = components['schemas']['Nodes']['data'][number]

const columns: readonly Column<Node>[] = [
  { label: words.name, show: ({ name }) => <strong>{name}</strong>, sortBy: ({ name }) => name },
  {
    label: words.state,
    show: ({ too_old: isTooOld }) => (
      <Badge tone={isTooOld ? 'bad' : 'good'}>{isTooOld ? words.tooOld : words.running}</Badge>
    ),
  },
  { label: words.version, show: ({ version }) => version, sortBy: ({ version }) => version },
  { label: words.lane, isNumber: true, show: ({ lane }) => (lane === null ? '–' : count(lane)) },
  { label: words.epoch, isNumber: true, show: ({ epoch }) => (epoch === null ? '–' : count(epoch)) },
  {
    label: words.holds,
    isNumber: true,
    show: ({ text_holds: holds }) => (holds === null ? '–' : count(holds)),
  },
  {
    label: words.clock,
    isNumber: true,
    show: ({ clock_offset_ms: offset }) => (offset === null ? '–' : milliseconds(offset)),
  },
  { label: words.seen, show: ({ last_seen_at: at }) => <Ago at={at} />, sortBy: row => row.last_seen_at },
]

export function Nodes() {
  const nodes = useResource('nodes', () => answer(api.GET('/admin/api/nodes')))
  return (
    <>
      <PageHead title={words.title} lead={words.lead}>
        <button type="button" class="button" disabled={nodes.isLoading} onClick={nodes.reload}>
          {words.again}
        </button>
      </PageHead>
      <Tabs label={navigationTexts.system} current="nodes" tabs={systemTabs} />
      <Loaded of={nodes} lines={2}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={words.empty} text={words.emptyText} />
          ) : (
            <Table label={words.title} rows={data} columns={columns} keyOf={({ name }) => name} />
          )
        }
      </Loaded>
    </>
  )
}
