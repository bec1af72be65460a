/** The state of the books: the check of every entry, the reconciler, and backups. */
import { useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Badge, Card, Facts, Instant } from '../../parts/facts.tsx'
import { ActionForm, TextField } from '../../parts/form.tsx'
import { bytes, count, money } from '../../parts/format.ts'
import { Empty, Loaded, Note } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Actor } from '../../parts/subject.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { toast } from '../../parts/toast.tsx'
import { mayOperate } from '../../session.ts'
import { booksTexts } from './texts.ts'
import { Verify } from './verify.tsx'

const words = booksTexts

/** Older ones are in the audit log. */
const BACKUPS_SHOWN = 20

export function Books() {
  const overview = useResource('books', () => answer(api.GET('/admin/api/overview')))
  const backups = useResource('backups', () =>
    answer(api.GET('/admin/api/backups', { params: { query: { limit: BACKUPS_SHOWN } } })),
  )
  return (
    <>
      <PageHead title={words.title} lead={words.lead} />
      <div class="stack">
        <Card title={words.state}>
          <Loaded of={overview} lines={3}>
            {({ books }) => <State of={books} />}
          </Loaded>
        </Card>
        <Verify onChecked={overview.reload} />
        {mayOperate() && (
          <div class="grid">
            <Reconcile />
            {backups.value?.made_elsewhere === null && <BackUp onMade={backups.reload} />}
          </div>
        )}
        <Card title={words.backups}>
          <Loaded of={backups} lines={3}>
            {({ data, made_elsewhere: elsewhere }) =>
              elsewhere === null ? <Backups of={data} /> : <p class="soft">{elsewhere}</p>
            }
          </Loaded>
        </Card>
      </div>
    </>
  )
}

function State({ of: books }: { readonly of: components['schemas']['Overview']['books'] }) {
  const { last_check: check } = books
  return (
    <div class="stack">
      {books.stopped_because !== null && <Note tone="bad">{books.stopped_because}</Note>}
      <Facts
        of={[
          [words.paidWork, <YesNo is={books.accepts_paid_work} />],
          [words.writable, <YesNo is={books.is_writable} />],
          [words.stoppedAccounts, count(books.stopped_accounts)],
          [words.lastCheck, check === null ? words.noCheck : <LastCheck of={check} />],
          [words.lastFullCheck, check === null ? '–' : <FullCheck at={check.all_rows_at} />],
          [words.openProblems, check === null ? '–' : count(check.open_problems)],
        ]}
      />
    </div>
  )
}

type Check = NonNullable<components['schemas']['Overview']['books']['last_check']>

function LastCheck({ of: check }: { readonly of: Check }) {
  return (
    <>
      <Instant at={check.at} /> <span class="soft">{check.all_rows ? words.allRows : words.recentRows}</span>
    </>
  )
}

function FullCheck({ at }: { readonly at: Check['all_rows_at'] }) {
  return at === null ? words.noFullCheck : <Instant at={at} />
}

function YesNo({ is }: { readonly is: boolean }) {
  return <Badge tone={is ? 'good' : 'bad'}>{is ? words.yes : words.no}</Badge>
}

type Reconciliation = components['schemas']['Reconciliation']

function Reconcile() {
  const [done, setDone] = useState<Reconciliation>()
  return (
    <Card
      title={words.reconcile}
      actions={
        <ActionButton
          onPress={async () => {
            const result = await answer(api.POST('/admin/api/reconcile'))
            setDone(result)
            toast(result.has_run ? words.reconciled : words.notReconciled, result.has_run ? 'good' : 'warn')
          }}
        >
          {words.run}
        </ActionButton>
      }
    >
      <div class="stack">
        <p class="soft">{words.reconcileText}</p>
        {done?.has_run === true && <Reconciled of={done} />}
      </div>
    </Card>
  )
}

function Reconciled({ of: done }: { readonly of: Reconciliation }) {
  const { jobs } = done
  return (
    <Facts
      of={[
        [words.closed, count(done.closed)],
        [words.expired, count(done.expired)],
        [words.compensated, `${count(done.compensated)} (${money(done.compensated_usd)})`],
        [words.jobsPolled, count(jobs.polled)],
        [words.jobsEnded, count(jobs.ended)],
        [words.jobsReleased, count(jobs.released)],
        [words.failedSteps, count(done.failed + jobs.failed)],
      ]}
    />
  )
}

type MadeBackup = components['schemas']['BackupPage']['data'][number]

const backupColumns: readonly Column<MadeBackup>[] = [
  { label: words.file, show: ({ file }) => <code>{file}</code> },
  {
    label: words.size,
    isNumber: true,
    show: ({ bytes: size }) => (size === null ? <Badge tone="warn">{words.notHere}</Badge> : bytes(size)),
  },
  { label: words.madeAt, show: ({ made_at: at }) => <Instant at={at} /> },
  { label: words.madeBy, show: ({ made_by: actor }) => <Actor name={actor} /> },
  { label: words.holds, mayWrap: true, show: ({ detail }) => detail ?? '–' },
]

function Backups({ of: made }: { readonly of: readonly MadeBackup[] }) {
  if (made.length === 0) return <Empty title={words.noBackups} text={words.noBackupsText} />
  return (
    <div class="stack">
      <p class="soft">{words.unchecked}</p>
      <Table
        label={words.backups}
        rows={made}
        columns={backupColumns}
        keyOf={row => row.made_at + row.file}
      />
    </div>
  )
}

function BackUp({ onMade }: { readonly onMade: () => void }) {
  const [made, setMade] = useState<components['schemas']['Backup']>()
  return (
    <Card title={words.backup}>
      <div class="stack">
        <p class="soft">{words.backupText}</p>
        <ActionForm
          submit={words.backUp}
          onSubmit={async ({ file = '' }) => {
            setMade(await answer(api.POST('/admin/api/backups', { body: { file } })))
            toast(words.backedUp)
            onMade()
          }}
        >
          <TextField label={words.file} name="file" hint={words.fileHint} autoComplete="off" required />
        </ActionForm>
        {made !== undefined && (
          <Facts
            of={[
              [words.file, <code>{made.file}</code>],
              [words.size, bytes(made.bytes)],
              [words.commits, count(made.commits)],
              [words.jobFiles, `${count(made.job_files)} in ${made.results_in ?? made.job_files_folder}`],
            ]}
          />
        )}
      </div>
    </Card>
  )
}
