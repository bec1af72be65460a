/** The projects of an account. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { ChoiceFilter, Filters, NothingMatches, SearchFilter, useQuery } from '../../parts/filters.tsx'
import { Ago, Badge } from '../../parts/facts.tsx'
import { ActionForm, TextField } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Empty, Loaded } from '../../parts/notes.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { toast } from '../../parts/toast.tsx'
import { mayOperate } from '../../session.ts'
import { limitsTexts } from '../limits/texts.ts'
import { projectsTexts } from '../projects/texts.ts'
import { TermFields, writtenTerms } from '../limits/term-fields.tsx'
import { at, type TabProps } from './account-state.tsx'

const words = projectsTexts

type Project = components['schemas']['Project']

export function ProjectBadge({ closedAt }: { readonly closedAt: string | null }) {
  const state = closedAt === null ? 'open' : 'closed'
  return <Badge tone={state === 'open' ? 'good' : 'plain'}>{words.states[state]}</Badge>
}

const columns: readonly Column<Project>[] = [
  {
    label: words.name,
    show: ({ id, name }) => <a href={`projects/${id}`}>{name}</a>,
    sortBy: ({ name }) => name,
  },
  { label: words.state, show: ({ closed_at: at }) => <ProjectBadge closedAt={at} /> },
  {
    label: words.createdAt,
    show: ({ created_at: at }) => <Ago at={at} />,
    sortBy: ({ created_at: at }) => at,
  },
]

export function AccountProjects({ account }: TabProps) {
  const projects = useResource(account.id, () =>
    answer(api.GET('/admin/api/accounts/{account}/projects', at(account.id))),
  )
  const [isCreating, setCreating] = useState(false)
  const create = mayOperate() && account.closed_at === null && (
    <button type="button" class="button primary" onClick={() => setCreating(true)}>
      <Icon name="plus" />
      {words.new}
    </button>
  )
  return (
    <>
      <Loaded of={projects}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={words.empty} text={words.emptyText}>
              {create}
            </Empty>
          ) : (
            <FilteredProjects projects={data}>{create}</FilteredProjects>
          )
        }
      </Loaded>
      {isCreating && (
        <NewProject
          account={account.id}
          onClose={() => setCreating(false)}
          onCreated={() => {
            toast(words.created)
            setCreating(false)
            projects.reload()
          }}
        />
      )}
    </>
  )
}

const stateChoices = (['open', 'closed'] as const).map(value => ({ value, label: words.states[value] }))

function FilteredProjects({
  projects,
  children,
}: {
  readonly projects: readonly Project[]
  /** The actions of the list. */
  readonly children: ComponentChildren
}) {
  const [{ search = '', state = '' }] = useQuery()
  const shown = projects.filter(
    ({ id, name, closed_at: closedAt }) =>
      (state === '' || (closedAt === null ? 'open' : 'closed') === state) &&
      [id, name].some(text => text.toLowerCase().includes(search.toLowerCase())),
  )
  return (
    <>
      <Filters>
        <SearchFilter />
        <ChoiceFilter name="state" label={words.state} choices={stateChoices} />
        <span class="end">{children}</span>
      </Filters>
      {shown.length === 0 ? (
        <NothingMatches names={['search', 'state']} text={words.noMatch} />
      ) : (
        <Table label={words.title} rows={shown} columns={columns} keyOf={({ id }) => id} />
      )}
    </>
  )
}

function NewProject({
  account,
  onClose,
  onCreated,
}: {
  readonly account: string
  readonly onClose: () => void
  readonly onCreated: () => void
}) {
  return (
    <Dialog title={words.newTitle} onClose={onClose}>
      <ActionForm
        submit={words.create}
        onCancel={onClose}
        onSubmit={async values => {
          const body = { name: values['name'] ?? '', ...writtenTerms(values) }
          await answer(api.POST('/admin/api/accounts/{account}/projects', { ...at(account), body }))
          onCreated()
        }}
      >
        <TextField
          label={words.name}
          name="name"
          hint={words.nameHint}
          maxLength={100}
          autoComplete="off"
          required
          hasFocus
        />
        <p class="soft">{limitsTexts.emptyIsNone}</p>
        <TermFields />
      </ActionForm>
    </Dialog>
  )
}
