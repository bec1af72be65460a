/** One user: name and role, access, and sessions. */
import { useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import type { Role } from '../../api/console-routes.ts'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { Confirm } from '../../parts/dialog.tsx'
import { Badge, Card, Facts } from '../../parts/facts.tsx'
import { ActionForm, messageOf, TextField } from '../../parts/form.tsx'
import { Empty, Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { toast } from '../../parts/toast.tsx'
import { changeOwn, currentUser } from '../../session.ts'
import { usersTexts } from './texts.ts'
import { partsTexts } from '../../parts/texts.ts'
import { SessionTable } from '../profile/session-table.tsx'
import { LinkDialog, RoleFields, toneOf, type ListedUser, type NewLink } from './user-fields.tsx'

const words = usersTexts

export function UserPage() {
  const id = useRoute().params['user'] ?? ''
  const user = useResource(id, () => answer(api.GET('/admin/api/users/{user}', at(id))))
  return (
    <>
      <PageHead
        title={user.value?.name || user.value?.email || words.title}
        parent={{ href: 'users', label: words.title }}
      />
      <Loaded of={user}>
        {value => (
          <div class="stack">
            <div class="grid">
              <Edit user={value} onChanged={user.reload} />
              <Access user={value} onChanged={user.reload} />
            </div>
            <Sessions user={value} />
          </div>
        )}
      </Loaded>
    </>
  )
}

/** The parameters of a path about one user. */
function at(user: string) {
  return { params: { path: { user } } }
}

type Props = { readonly user: ListedUser; readonly onChanged: () => void }

function Edit({ user, onChanged }: Props) {
  return (
    <Card title={words.edit}>
      <ActionForm
        submit={partsTexts.save}
        onSubmit={async ({ name = '', role, grants_per_day_usd }) => {
          const body = { name, role: role as Role, grants_per_day_usd: grants_per_day_usd || null }
          await answer(api.PATCH('/admin/api/users/{user}', { ...at(user.id), body }))
          changeOwn(user.id, { name })
          toast(words.saved)
          onChanged()
        }}
      >
        <TextField label={words.name} name="name" defaultValue={user.name} maxLength={100} required />
        <RoleFields role={user.role} grants={user.grants_per_day_usd} />
      </ActionForm>
    </Card>
  )
}

function Access({ user, onChanged }: Props) {
  const [made, setMade] = useState<NewLink>()
  const [isDisabling, setDisabling] = useState(false)
  const [isRemoving, setRemoving] = useState(false)
  const isDisabled = user.state === 'disabled'
  const setDisabled = async (disabled: boolean) => {
    await answer(api.PATCH('/admin/api/users/{user}', { ...at(user.id), body: { disabled } }))
    toast(disabled ? words.disabled : words.enabled)
    onChanged()
  }
  const removeCodes = async () => {
    await answer(api.PATCH('/admin/api/users/{user}', { ...at(user.id), body: { has_totp: false } }))
    toast(words.codesRemoved)
    onChanged()
  }
  const makeLink = async () => {
    const { link, mailed: isMailed } = await answer(api.POST('/admin/api/users/{user}/link', at(user.id)))
    setMade({ email: user.email, link, isMailed })
  }
  return (
    <Card title={words.access}>
      <div class="stack">
        <Facts
          of={[
            [words.email, user.email],
            [words.state, <Badge tone={toneOf[user.state]}>{words.states[user.state]}</Badge>],
            [words.code, user.has_totp ? words.on : words.off],
          ]}
        />
        <p class="soft">{words.resetText}</p>
        <div class="row">
          <button type="button" class="button" onClick={() => reported(makeLink())}>
            {words.reset}
          </button>
          {user.has_totp && (
            <button type="button" class="button" onClick={() => setRemoving(true)}>
              {words.removeCodes}
            </button>
          )}
          {isDisabled && (
            <button type="button" class="button" onClick={() => reported(setDisabled(false))}>
              {words.enable}
            </button>
          )}
          {!isDisabled && user.id !== currentUser().id && (
            <button type="button" class="button" onClick={() => setDisabling(true)}>
              {words.disable}
            </button>
          )}
        </div>
      </div>
      {made !== undefined && <LinkDialog of={made} onClose={() => setMade(undefined)} />}
      {isRemoving && (
        <Confirm
          title={words.removeCodesTitle(user.name)}
          action={words.removeCodes}
          onConfirm={removeCodes}
          onClose={() => setRemoving(false)}
        >
          <p>{words.removeCodesText}</p>
        </Confirm>
      )}
      {isDisabling && (
        <Confirm
          title={words.disableTitle(user.name)}
          action={words.disable}
          onConfirm={() => setDisabled(true)}
          onClose={() => setDisabling(false)}
        >
          <p>{words.disableText}</p>
        </Confirm>
      )}
    </Card>
  )
}

/** Says why an action without a form failed. */
function reported(action: Promise<void>): void {
  action.catch((error: Error) => toast(messageOf(error), 'bad'))
}

function Sessions({ user }: { readonly user: ListedUser }) {
  const sessions = useResource(user.id, () =>
    answer(api.GET('/admin/api/users/{user}/sessions', at(user.id))),
  )
  const [isEnding, setEnding] = useState(false)
  return (
    <section class="stack" aria-label={words.sessions}>
      <header class="row">
        <h2>{words.sessions}</h2>
        <button type="button" class="button small" onClick={() => setEnding(true)}>
          {words.endAll}
        </button>
      </header>
      <Loaded of={sessions} lines={2}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={words.noSessions} text={words.noSessionsText} />
          ) : (
            <SessionTable rows={data} />
          )
        }
      </Loaded>
      {isEnding && (
        <Confirm
          title={words.endAllTitle(user.name)}
          action={words.endAll}
          onConfirm={async () => {
            await answer(api.DELETE('/admin/api/users/{user}/sessions', at(user.id)))
            toast(words.allEnded)
            sessions.reload()
          }}
          onClose={() => setEnding(false)}
        >
          <p>{words.endAllText}</p>
        </Confirm>
      )}
    </section>
  )
}
