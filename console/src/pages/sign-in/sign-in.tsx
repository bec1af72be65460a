/** Sign-in with a password, and a code if the user has switched it on, or with the OpenID provider. */
import { useLayoutEffect, useState } from 'preact/hooks'
import { oidcUrl } from '../../api/client.ts'
import { consoleApi, type SignInOptions } from '../../api/console-routes.ts'
import { useResource } from '../../api/resource.ts'
import { Code } from '../../parts/facts.tsx'
import { ActionForm, TextField } from '../../parts/form.tsx'
import { Loaded, Note } from '../../parts/notes.tsx'
import { enter } from '../../session.ts'
import { resetTexts, signInTexts } from './texts.ts'
import { useCodeField } from './code-field.tsx'
import { Gate } from './gate.tsx'

const words = signInTexts
const resetWords = resetTexts

/** `hasEnded`: a session ran out while it was used. */
export function SignIn({ hasEnded }: { readonly hasEnded: boolean }) {
  const options = useResource('sign-in', consoleApi.signInOptions)
  const [isReset, setReset] = useState(false)
  const [reason] = useState(() => /^#sign-in-error=(.*)$/.exec(location.hash)?.[1])
  useLayoutEffect(() => {
    // It is shown once: not again after a reload, and not in a bookmark.
    if (reason !== undefined) history.replaceState(history.state, '', location.pathname + location.search)
  }, [reason])
  return (
    <Gate title={isReset ? resetWords.title : words.title}>
      {hasEnded && <Note>{words.ended}</Note>}
      {reason !== undefined && <Note tone="bad">{refusal(reason)}</Note>}
      <Loaded of={options} lines={3}>
        {offered =>
          isReset ? (
            <Reset hasMail={offered.mail} onBack={() => setReset(false)} />
          ) : (
            <Ways offered={offered} onForgot={() => setReset(true)} />
          )
        }
      </Loaded>
    </Gate>
  )
}

/** The address has only the name of a reason, because anyone can make a link with another text. */
function refusal(reason: string): string {
  const { other, ...known } = words.oidcRefused
  return Object.entries(known).find(([name]) => name === reason)?.[1] ?? other
}

function NoUsers() {
  return (
    <>
      <p>{words.noUsers}</p>
      <p class="soft">{words.noUsersHint}</p>
    </>
  )
}

function Ways({ offered, onForgot }: { readonly offered: SignInOptions; readonly onForgot: () => void }) {
  const { password, oidc, has_users: hasUsers } = offered
  if (!hasUsers) return <NoUsers />
  return (
    <>
      {oidc !== null && (
        <a class="button" href={oidcUrl}>
          {words.with(oidc.name)}
        </a>
      )}
      {oidc !== null && password && <p class="or">{words.or}</p>}
      {password && (
        <>
          <PasswordForm />
          <button type="button" class="button quiet" onClick={onForgot}>
            {words.forgot}
          </button>
        </>
      )}
      {oidc === null && !password && <Note tone="warn">{words.noWay}</Note>}
    </>
  )
}

function PasswordForm() {
  const { submit, field } = useCodeField(async ({ email = '', password = '', code }) =>
    enter(await consoleApi.signIn({ email, password, ...(code !== undefined && { code }) })),
  )
  return (
    <ActionForm submit={words.submit} onSubmit={submit}>
      <TextField label={words.email} name="email" type="email" autoComplete="username" required hasFocus />
      <TextField
        label={words.password}
        name="password"
        type="password"
        autoComplete="current-password"
        required
      />
      {field}
    </ActionForm>
  )
}

function Reset({ hasMail, onBack }: { readonly hasMail: boolean; readonly onBack: () => void }) {
  const [isSent, setSent] = useState(false)
  return (
    <>
      {hasMail ? (
        <ResetForm isSent={isSent} onSent={() => setSent(true)} />
      ) : (
        <>
          <p>{resetWords.noMail}</p>
          <Code text={resetWords.command} label={resetWords.title} />
        </>
      )}
      <button type="button" class="button quiet" onClick={onBack}>
        {words.back}
      </button>
    </>
  )
}

function ResetForm({ isSent, onSent }: { readonly isSent: boolean; readonly onSent: () => void }) {
  if (isSent) return <Note tone="good">{resetWords.sent}</Note>
  return (
    <>
      <p>{resetWords.text}</p>
      <ActionForm
        submit={resetWords.submit}
        onSubmit={async ({ email = '' }) => {
          await consoleApi.askForReset(email)
          onSent()
        }}
      >
        <TextField label={words.email} name="email" type="email" autoComplete="username" required />
      </ActionForm>
    </>
  )
}
