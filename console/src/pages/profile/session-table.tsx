import type { SessionRow } from '../../api/console-routes.ts'
import { Ago, Badge } from '../../parts/facts.tsx'
import { messageOf } from '../../parts/form.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { toast } from '../../parts/toast.tsx'
import { profileTexts } from './texts.ts'

const words = profileTexts

/** The sessions of a user. `onEnd` is absent if they can only be read. */
export function SessionTable({
  rows,
  onEnd,
}: {
  readonly rows: readonly SessionRow[]
  readonly onEnd?: (row: SessionRow) => Promise<void>
}) {
  const columns: Column<SessionRow>[] = [
    {
      label: words.browser,
      show: row => (
        <>
          {browserOf(row.user_agent)} {row.current === true && <Badge tone="accent">{words.thisOne}</Badge>}
        </>
      ),
    },
    { label: words.address, show: row => row.address },
    { label: words.since, show: row => <Ago at={row.created_at} /> },
    { label: words.lastUsed, show: row => <Ago at={row.last_used_at} /> },
  ]
  if (onEnd !== undefined)
    columns.push({
      label: words.end,
      show: row => row.current !== true && <EndButton row={row} onEnd={onEnd} />,
    })
  return <Table label={words.sessions} rows={rows} columns={columns} keyOf={row => row.id} />
}

function EndButton({
  row,
  onEnd,
}: {
  readonly row: SessionRow
  readonly onEnd: (row: SessionRow) => Promise<void>
}) {
  return (
    <button
      type="button"
      class="button small"
      aria-label={words.endOf(browserOf(row.user_agent))}
      onClick={() => void onEnd(row).catch((error: Error) => toast(messageOf(error), 'bad'))}
    >
      {words.end}
    </button>
  )
}

const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const
const SYSTEMS = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS', 'macOS'],
  ['CrOS', 'ChromeOS'],
  ['Linux', 'Linux'],
] as const

/** `Firefox on Linux`. The full text of a browser says little to people. */
function browserOf(userAgent: string): string {
  if (userAgent === '') return words.unknownBrowser
  const [, browser] = BROWSERS.find(([mark]) => userAgent.includes(mark)) ?? []
  const [, system] = SYSTEMS.find(([mark]) => userAgent.includes(mark)) ?? []
  if (browser === undefined) return userAgent.slice(0, 40)
  return system === undefined ? browser : `${browser} on ${system}`
}
