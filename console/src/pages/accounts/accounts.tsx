/** The customers, each with its balance. */
import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso'
import { useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { pagePath } from '../../base.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { cursorOf, Filters, NothingMatches, SearchFilter, useQuery } from '../../parts/filters.tsx'
import { Ago, Cents } from '../../parts/facts.tsx'
import { ActionForm, TextField } from '../../parts/form.tsx'
import { nanosOf } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { Empty, Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Pager, Table, type Column } from '../../parts/table.tsx'
import { mayOperate } from '../../session.ts'
import { accountsTexts } from './texts.ts'
import { AccountBadge, stateOf, type ListedAccount } from './account-state.tsx'

const words = accountsTexts
const ROWS = 50

const columns: readonly Column<ListedAccount>[] = [
  {
    label: words.name,
    show: ({ id, name }) => (
      <a href={`accounts/${id}`} title={name}>
        {name}
      </a>
    ),
    sortBy: ({ name }) => name,
  },
  { label: words.state, show: account => <AccountBadge of={account} />, sortBy: stateOf },
  {
    label: words.available,
    isNumber: true,
    show: ({ available_usd: amount }) => <Cents of={amount} />,
    sortBy: ({ available_usd: amount }) => nanosOf(amount ?? '0'),
  },
  {
    label: words.held,
    isNumber: true,
    show: ({ held_usd: amount }) => <Cents of={amount} />,
    sortBy: ({ held_usd: amount }) => nanosOf(amount ?? '0'),
  },
  {
    label: words.priceList,
    show: ({ price_list: list }) => list ?? <span class="soft">{words.catalogPrices}</span>,
    sortBy: ({ price_list: list }) => list ?? '',
  },
  {
    label: words.created,
    show: ({ created_at: at }) => <Ago at={at} />,
    sortBy: ({ created_at: at }) => at ?? '',
  },
]

export function Accounts() {
  const [query] = useQuery()
  const { search = '', cursor = '' } = query
  const accounts = useResource(
    `${search} ${cursor}`,
    () => {
      const searched = search === '' ? {} : { search }
      const params = { query: { limit: ROWS, ...searched, ...cursorOf(query) } }
      return answer(api.GET('/admin/api/accounts', { params }))
    },
    { subject: 'accounts' },
  )
  const [isCreating, setCreating] = useState(false)
  const create = mayOperate() && (
    <button type="button" class="button primary" onClick={() => setCreating(true)}>
      <Icon name="plus" />
      {words.create}
    </button>
  )
  return (
    <>
      <PageHead title={words.title} lead={words.lead}>
        {create}
      </PageHead>
      <Filters>
        <SearchFilter label={words.search} />
      </Filters>
      <Loaded of={accounts}>
        {({ data, next }) =>
          data.length === 0 ? (
            <NoAccounts isSearch={search !== ''}>{create}</NoAccounts>
          ) : (
            <>
              <Table
                label={words.title}
                rows={data}
                columns={columns}
                keyOf={({ id }) => id}
                isPart={cursor !== '' || next !== null}
              />
              <Pager next={next} shown={data.length} />
            </>
          )
        }
      </Loaded>
      {isCreating && <NewAccount onClose={() => setCreating(false)} />}
    </>
  )
}

function NoAccounts({
  isSearch,
  children,
}: {
  readonly isSearch: boolean
  readonly children: ComponentChildren
}) {
  return isSearch ? (
    <NothingMatches names={['search', 'cursor']} text={words.noMatch} />
  ) : (
    <Empty title={words.empty} text={words.emptyText}>
      {children}
    </Empty>
  )
}

function NewAccount({ onClose }: { readonly onClose: () => void }) {
  const { route } = useLocation()
  return (
    <Dialog title={words.createTitle} onClose={onClose}>
      <ActionForm
        submit={words.createSubmit}
        onCancel={onClose}
        onSubmit={async ({ name = '' }) => {
          const { id } = await answer(api.POST('/admin/api/accounts', { body: { name } }))
          route(pagePath(`accounts/${id}`))
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
      </ActionForm>
    </Dialog>
  )
}
