/** One's own user: password, code at sign-in, and sessions. */
import { useState } from 'preact/hooks'
import { consoleApi } from '../../api/console-routes.ts'
import { useResource } from '../../api/resource.ts'
import { Confirm } from '../../parts/dialog.tsx'
import { Card, Facts } from '../../parts/facts.tsx'
import { ActionForm, TextField } from '../../parts/form.tsx'
import { money } from '../../parts/format.ts'
import { Loaded } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { toast } from '../../parts/toast.tsx'
import { currentUser, enter, leave } from '../../session.ts'
import { profileTexts } from './texts.ts'
import { roleMeaningsTexts, rolesTexts } from '../../texts.ts'
import { SessionTable } from './session-table.tsx'
import { Totp } from './totp.tsx'

const words = profileTexts
const PASSWORD_LENGTH_MIN = 12

export function Profile() {
  const user = currentUser()
  return (
    <>
      <PageHead title={words.title} />
      <div class="stack">
        <div class="grid">
          <Card title={words.you}>
            <Facts
              of={[
                [words.name, user.name],
                [words.email, user.email],
                [words.role, `${rolesTexts[user.role]}. ${roleMeaningsTexts[user.role]}`],
                ...(user.role === 'support' ? [[words.grants, money(user.grants_per_day_usd)] as const] : []),
              ]}
            />
          </Card>
          <Card title={words.password}>
            {user.has_password ? <PasswordForm email={user.email} /> : <p>{words.noPassword}</p>}
          </Card>
          <Totp />
        </div>
        <OwnSessions />
      </div>
    </>
  )
}

function PasswordForm({ email }: { readonly email: string }) {
  const [turn, setTurn] = useState(0)
  return (
    <ActionForm
      key={turn}
      submit={words.change}
      onSubmit={async ({ current = '', new: next = '' }) => {
        enter(await consoleApi.changePassword({ current, new: next }))
        toast(words.changed)
        setTurn(turn + 1)
      }}
    >
      {/* For password managers. */}
      <input type="email" name="email" value={email} autoComplete="username" readOnly hidden />
      <TextField
        label={words.current}
        name="current"
        type="password"
        autoComplete="current-password"
        required
      />
      <TextField
        label={words.new}
        name="new"
        type="password"
        hint={words.newHint}
        autoComplete="new-password"
        minLength={PASSWORD_LENGTH_MIN}
        required
      />
    </ActionForm>
  )
}

function OwnSessions() {
  const sessions = useResource('sessions', consoleApi.sessions)
  const [isEnding, setEnding] = useState(false)
  return (
    <section class="stack" aria-label={words.sessions}>
      <header class="row">
        <h2>{words.sessions}</h2>
        <button type="button" class="button small" onClick={() => setEnding(true)}>
          {words.everywhere}
        </button>
      </header>
      <p class="soft">{words.sessionsText}</p>
      <Loaded of={sessions} lines={2}>
        {({ data }) => (
          <SessionTable
            rows={data}
            onEnd={async ({ id }) => {
              await consoleApi.endSession(id)
              toast(words.ended)
              sessions.reload()
            }}
          />
        )}
      </Loaded>
      {isEnding && (
        <Confirm
          title={words.everywhere}
          action={words.everywhere}
          onConfirm={async () => {
            await consoleApi.signOutEverywhere()
            leave(false)
          }}
          onClose={() => setEnding(false)}
        >
          <p>{words.everywhereText}</p>
        </Confirm>
      )}
    </section>
  )
}
