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
  const isDisabled = user.state === 'disabled'
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
          <Reset user={user} />
          {user.has_totp && <RemoveCodes user={user} onChanged={onChanged} />}
          {isDisabled && <Enable user={user} onChanged={onChanged} />}
          {!isDisabled && user.id !== currentUser().id && <Disable user={user} onChanged={onChanged} />}
        </div>
      </div>
    </Card>
  )
}

/** Makes a link with which the user sets a new password. */
function Reset({ user }: { readonly user: ListedUser }) {
  const [made, setMade] = useState<NewLink>()
  const makeLink = async () => {
    const { link, mailed: isMailed } = await answer(api.POST('/admin/api/users/{user}/link', at(user.id)))
    setMade({ email: user.email, link, isMailed })
  }
  return (
    <>
      <button type="button" class="button" onClick={() => reported(makeLink())}>
        {words.reset}
      </button>
      {made !== undefined && <LinkDialog of={made} onClose={() => setMade(undefined)} />}
    </>
  )
}

function RemoveCodes({ user, onChanged }: Props) {
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <button type="button" class="button" onClick={() => setAsking(true)}>
        {words.removeCodes}
      </button>
      {isAsking && (
        <Confirm
          title={words.removeCodesTitle(user.name)}
          action={words.removeCodes}
          onConfirm={async () => {
            await answer(api.PATCH('/admin/api/users/{user}', { ...at(user.id), body: { has_totp: false } }))
            toast(words.codesRemoved)
            onChanged()
          }}
          onClose={() => setAsking(false)}
        >
          <p>{words.removeCodesText}</p>
        </Confirm>
      )}
    </>
  )
}

function Enable({ user, onChanged }: Props) {
  return (
    <button type="button" class="button" onClick={() => reported(setDisabled(user, false).then(onChanged))}>
      {words.enable}
    </button>
  )
}

function Disable({ user, onChanged }: Props) {
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <button type="button" class="button" onClick={() => setAsking(true)}>
        {words.disable}
      </button>
      {isAsking && (
        <Confirm
          title={words.disableTitle(user.name)}
          action={words.disable}
          onConfirm={async () => {
            await setDisabled(user, true)
            onChanged()
          }}
          onClose={() => setAsking(false)}
        >
          <p>{words.disableText}</p>
        </Confirm>
      )}
    </>
  )
}

async function setDisabled(user: ListedUser, disabled: boolean): Promise<void> {
  await answer(api.PATCH('/admin/api/users/{user}', { ...at(user.id), body: { disabled } }))
  toast(disabled ? words.disabled : words.enabled)
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
