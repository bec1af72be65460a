/** The state of the books: the check of every entry, the reconciler, and backups. */
import { useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Badge, Card, Facts, Instant } from '../../parts/facts.tsx'
import { ActionForm, TextField } from '../../parts/form.tsx'
import { bytes, count, money } from '../../parts/format.ts'
import { Loaded, Note } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { toast } from '../../parts/toast.tsx'
import { mayOperate } from '../../session.ts'
import { texts } from '../../texts.ts'
import { Verify } from './verify.tsx'

const words = texts.books

export function Books() {
  const overview = useResource('books', () => answer(api.GET('/admin/api/overview')))
  return (
    <>
      <PageHead title={words.title} lead={words.lead} />
      <div class="stack">
        <Card title={words.state}>
          <Loaded of={overview} lines={3}>
            {({ books }) => <State of={books} />}
          </Loaded>
        </Card>
        {mayOperate() && (
          <>
            <Verify onChecked={overview.reload} />
            <div class="grid">
              <Reconcile />
              <BackUp />
            </div>
          </>
        )}
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
          [words.lastCheck, check === null ? words.noCheck : <Instant at={check.at} />],
          [words.openProblems, check === null ? '–' : count(check.open_problems)],
        ]}
      />
    </div>
  )
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

function BackUp() {
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
