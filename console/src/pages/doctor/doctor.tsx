/** The self-checks of the gateway, each with what it found. */
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { Badge, Tabs } from '../../parts/facts.tsx'
import { Loaded, Note } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { systemTabs } from '../../pages.ts'
import { doctorTexts } from './texts.ts'
import { navigationTexts } from '../../texts.ts'

const words = doctorTexts

type Check = {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
  readonly is_warning?: true
}

const columns: readonly Column<Check>[] = [
  { label: words.result, show: check => <Result of={check} />, sortBy: check => rankOf(check) },
  { label: words.check, show: ({ name }) => <strong>{name}</strong>, sortBy: ({ name }) => name },
  { label: words.detail, mayWrap: true, show: ({ detail }) => detail },
]

function rankOf({ ok, is_warning }: Check): number {
  if (!ok) return 0
  return is_warning === true ? 1 : 2
}

function Result({ of: check }: { readonly of: Check }) {
  const tone = (['bad', 'warn', 'good'] as const)[rankOf(check)] ?? 'good'
  return <Badge tone={tone}>{words.results[tone]}</Badge>
}

export function Doctor() {
  const report = useResource('doctor', () => answer(api.GET('/admin/api/doctor')))
  return (
    <>
      <PageHead title={words.title} lead={words.lead}>
        <button type="button" class="button" disabled={report.isLoading} onClick={report.reload}>
          {words.again}
        </button>
      </PageHead>
      <Tabs label={navigationTexts.system} current="doctor" tabs={systemTabs} />
      <Loaded of={report}>
        {({ ok, checks }) => (
          <div class="stack">
            <Note tone={ok ? 'good' : 'bad'}>{ok ? words.allGood : words.notGood}</Note>
            <Table label={words.title} rows={checks} columns={columns} keyOf={({ name }) => name} />
          </div>
        )}
      </Loaded>
    </>
  )
}
