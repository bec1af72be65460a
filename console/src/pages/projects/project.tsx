/** One project: what its keys spend, its limits, and its keys. */
import { useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { Chart } from '../../parts/chart.tsx'
import { Confirm, Dialog } from '../../parts/dialog.tsx'
import { useQuery } from '../../parts/filters.tsx'
import { Card, Facts, Instant, Money, Secret, Tabs } from '../../parts/facts.tsx'
import { ActionForm, TextField } from '../../parts/form.tsx'
import { count, money } from '../../parts/format.ts'
import { Empty, Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { toast } from '../../parts/toast.tsx'
import { mayOperate } from '../../session.ts'
import { accountsTexts } from '../accounts/texts.ts'
import { keysTexts } from '../keys/texts.ts'
import { projectsTexts } from './texts.ts'
import { chartsTexts, partsTexts } from '../../parts/texts.ts'
import { ProjectBadge } from '../accounts/account-projects.tsx'
import { KeyTable } from '../keys/key-table.tsx'
import { NewKey } from '../keys/new-key.tsx'
import { TermsCard } from '../limits/terms-card.tsx'

const words = projectsTexts

type LimitedProject = components['schemas']['LimitedProject']

/** The parameters of a path about one project. */
function at(project: string) {
  return { params: { path: { project } } }
}

async function readProject(id: string) {
  const project = await answer(api.GET('/admin/api/projects/{project}', at(id)))
  const params = { path: { account: project.account ?? '' } }
  const [account, keys] = await Promise.all([
    answer(api.GET('/admin/api/accounts/{account}', { params })),
    answer(api.GET('/admin/api/accounts/{account}/keys', { params })),
  ])
  return { project, account, keys: keys.data.filter(key => key.project === id) }
}

export function ProjectPage() {
  const id = useRoute().params['project'] ?? ''
  const read = useResource(id, () => readProject(id))
  const { value, reload } = read
  const parent =
    value === undefined
      ? { href: 'accounts', label: accountsTexts.title }
      : { href: `accounts/${value.account.id}/projects`, label: words.projectsOf(value.account.name) }
  const change = async (body: components['schemas']['ProjectChange']) => {
    await answer(api.PATCH('/admin/api/projects/{project}', { ...at(id), body }))
    reload()
  }
  return (
    <>
      <PageHead title={value?.project.name ?? words.project} parent={parent}>
        {value !== undefined && mayOperate() && value.project.closed_at === null && (
          <Actions project={value.project} onRename={name => change({ name })} onChanged={reload} />
        )}
      </PageHead>
      <Loaded of={read}>
        {({ project, keys }) => (
          <div class="stack">
            <Usage project={project} keyNames={new Map(keys.map(({ id, name }) => [id, name]))} />
            <TermsCard terms={project} isClosed={project.closed_at !== null} onSave={change} />
            <Card title={keysTexts.title}>
              {keys.length === 0 ? (
                <Empty title={keysTexts.empty} text={words.noKeys} />
              ) : (
                <KeyTable keys={keys} />
              )}
            </Card>
          </div>
        )}
      </Loaded>
    </>
  )
}

type ActionProps = {
  readonly project: LimitedProject
  readonly onRename: (name: string) => Promise<void>
  readonly onChanged: () => void
}

function Actions({ project, onRename, onChanged }: ActionProps) {
  const [asking, ask] = useState<Asking>()
  const close = () => ask(undefined)
  return (
    <>
      <button type="button" class="button primary" onClick={() => ask('key')}>
        {keysTexts.new}
      </button>
      <button type="button" class="button" onClick={() => ask('rename')}>
        {words.rename}
      </button>
      <button type="button" class="button destructive" onClick={() => ask('close')}>
        {words.close}
      </button>
      {asking !== undefined && (
        <Asked about={asking} project={project} onRename={onRename} onChanged={onChanged} onClose={close} />
      )}
    </>
  )
}

type Asking = 'key' | 'rename' | 'close'

function Asked({
  about,
  project,
  onRename,
  onChanged,
  onClose,
}: ActionProps & { readonly about: Asking; readonly onClose: () => void }) {
  switch (about) {
    case 'key':
      return (
        <NewKey
          account={project.account ?? ''}
          project={project.id}
          onClose={onClose}
          onCreated={onChanged}
        />
      )
    case 'rename':
      return <Rename project={project} onRename={onRename} onClose={onClose} />
    case 'close':
      return (
        <Confirm
          title={words.closeTitle(project.name)}
          action={words.close}
          onConfirm={async () => {
            await answer(api.POST('/admin/api/projects/{project}/close', at(project.id)))
            toast(words.closed)
            onChanged()
          }}
          onClose={onClose}
        >
          <p>{words.closeText}</p>
        </Confirm>
      )
  }
}

function Rename({
  project,
  onRename,
  onClose,
}: Pick<ActionProps, 'project' | 'onRename'> & { readonly onClose: () => void }) {
  return (
    <Dialog title={words.rename} onClose={onClose}>
      <ActionForm
        submit={partsTexts.save}
        onCancel={onClose}
        onSubmit={async ({ name = '' }) => {
          await onRename(name)
          toast(words.renamed)
          onClose()
        }}
      >
        <TextField
          label={words.name}
          name="name"
          defaultValue={project.name}
          maxLength={100}
          required
          hasFocus
        />
      </ActionForm>
    </Dialog>
  )
}

const grains = ['day', 'model', 'key'] as const

/** What the keys of the project have spent this month. */
function Usage({
  project,
  keyNames,
}: {
  readonly project: LimitedProject
  readonly keyNames: ReadonlyMap<string, string>
}) {
  const [query] = useQuery()
  const by = grains.find(grain => grain === query['by']) ?? 'day'
  const usage = useResource(`${project.id} ${by}`, () => {
    const params = { path: { project: project.id }, query: { by } }
    return answer(api.GET('/admin/api/projects/{project}/usage', { params }))
  })
  const hrefOf = (grain: string) => `projects/${project.id}?by=${grain}`
  return (
    <div>
      <Tabs
        label={words.by}
        current={hrefOf(by)}
        tabs={grains.map(grain => ({ href: hrefOf(grain), label: words.spendBy[grain] }))}
      />
      <Loaded of={usage}>
        {({ data, totals }) => (
          <div class="grid">
            <Chart
              title={words.spendBy[by]}
              by={by === 'day' ? chartsTexts.day : words.grains[by]}
              labels={data.map(group => {
                const name = group[by] ?? ''
                return by === 'key' ? keyNames.get(name) || name : name
              })}
              series={[{ label: words.spent, values: data.map(({ cost_usd }) => cost_usd) }]}
              show={money}
              kind={by === 'day' ? 'bars' : 'rows'}
            />
            <Card title={words.project}>
              <Facts
                of={[
                  [words.state, <ProjectBadge closedAt={project.closed_at} />],
                  [words.id, <Secret text={project.id} />],
                  [words.createdAt, <Instant at={project.created_at} />],
                  [words.thisMonth, <Money of={totals.cost_usd} />],
                  [words.charges, count(totals.charges)],
                ]}
              />
            </Card>
          </div>
        )}
      </Loaded>
    </div>
  )
}
