/** The people who can sign in. Only owners see this page. */
import { useState } from 'preact/hooks'
import type { Role } from '../../api/console-routes.ts'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { cursorOf, useQuery } from '../../parts/filters.tsx'
import { Ago, Badge } from '../../parts/facts.tsx'
import { ActionForm, TextField } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Empty, Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Pager, Table, type Column } from '../../parts/table.tsx'
import { usersTexts } from './texts.ts'
import { rolesTexts } from '../../texts.ts'
import { LinkDialog, RoleFields, toneOf, type ListedUser, type NewLink } from './user-fields.tsx'

const words = usersTexts

const columns: readonly Column<ListedUser>[] = [
  {
    label: words.name,
    show: ({ id, name, email }) => <a href={`users/${id}`}>{name || email}</a>,
    sortBy: ({ name, email }) => name || email,
  },
  { label: words.email, show: ({ email }) => email, sortBy: ({ email }) => email },
  { label: words.role, show: ({ role }) => rolesTexts[role], sortBy: ({ role }) => role },
  {
    label: words.state,
    show: ({ state }) => <Badge tone={toneOf[state]}>{words.states[state]}</Badge>,
    sortBy: ({ state }) => state,
  },
  { label: words.code, show: ({ has_totp }) => (has_totp ? words.on : words.off) },
  {
    label: words.lastSignIn,
    show: ({ last_sign_in_at: at }) => (at === null ? words.never : <Ago at={at} />),
    sortBy: ({ last_sign_in_at: at }) => at ?? '',
  },
]

export function Users() {
  const [query] = useQuery()
  const users = useResource(`users ${query['cursor'] ?? ''}`, () =>
    answer(api.GET('/admin/api/users', { params: { query: cursorOf(query) } })),
  )
  const [isInviting, setInviting] = useState(false)
  const [made, setMade] = useState<NewLink>()
  const invite = (
    <button type="button" class="button primary" onClick={() => setInviting(true)}>
      <Icon name="plus" />
      {words.invite}
    </button>
  )
  return (
    <>
      <PageHead title={words.title} lead={words.lead}>
        {invite}
      </PageHead>
      <Loaded of={users}>
        {({ data, next }) =>
          data.length === 0 ? (
            <Empty title={words.empty} text={words.emptyText}>
              {invite}
            </Empty>
          ) : (
            <>
              <Table
                label={words.title}
                rows={data}
                columns={columns}
                keyOf={({ id }) => id}
                isPart={query['cursor'] !== undefined || next !== null}
              />
              <Pager next={next} shown={data.length} />
            </>
          )
        }
      </Loaded>
      {isInviting && (
        <Invite
          onClose={() => setInviting(false)}
          onInvited={link => {
            setInviting(false)
            setMade(link)
            users.reload()
          }}
        />
      )}
      {made !== undefined && <LinkDialog of={made} onClose={() => setMade(undefined)} />}
    </>
  )
}

function Invite({
  onClose,
  onInvited,
}: {
  readonly onClose: () => void
  readonly onInvited: (link: NewLink) => void
}) {
  return (
    <Dialog title={words.inviteTitle} onClose={onClose}>
      <ActionForm
        submit={words.send}
        onCancel={onClose}
        onSubmit={async ({ email = '', name = '', role, grants_per_day_usd }) => {
          const limit = grants_per_day_usd ? { grants_per_day_usd } : {}
          const body = { email, name, role: role as Role, ...limit }
          const { link, mailed: isMailed } = await answer(api.POST('/admin/api/users', { body }))
          onInvited({ email, link, isMailed })
        }}
      >
        <TextField label={words.email} name="email" type="email" autoComplete="off" required />
        <TextField label={words.name} name="name" maxLength={100} autoComplete="off" required />
        <RoleFields role="operator" grants={null} />
      </ActionForm>
    </Dialog>
  )
}
