/** Sign-in with a password, and a code if the user has switched it on, or with the OpenID provider. */
import { useState } from 'preact/hooks'
import { ApiError, oidcUrl } from '../../api/client.ts'
import { consoleApi, type SignInOptions } from '../../api/console-routes.ts'
import { useResource } from '../../api/resource.ts'
import { Code } from '../../parts/facts.tsx'
import { ActionForm, TextField, type FormValues } from '../../parts/form.tsx'
import { Loaded, Note } from '../../parts/notes.tsx'
import { enter } from '../../session.ts'
import { texts } from '../../texts.ts'
import { CodeField } from './code-field.tsx'
import { Gate } from './gate.tsx'

const { signIn: words, reset: resetWords } = texts

/** `hasEnded`: a session ran out while it was used. */
export function SignIn({ hasEnded }: { readonly hasEnded: boolean }) {
  const options = useResource('sign-in', consoleApi.signInOptions)
  const [isReset, setReset] = useState(false)
  // The reason in the address is not shown, because anyone can make a link with another text.
  const isRefused = location.hash.startsWith('#sign-in-error=')
  return (
    <Gate title={isReset ? resetWords.title : words.title}>
      {hasEnded && <Note>{words.ended}</Note>}
      {isRefused && <Note tone="bad">{words.oidcRefused}</Note>}
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

function Ways({ offered, onForgot }: { readonly offered: SignInOptions; readonly onForgot: () => void }) {
  const { password, oidc } = offered
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
  const [needsCode, setNeedsCode] = useState(false)
  const submit = async ({ email = '', password = '', code }: FormValues) => {
    try {
      enter(await consoleApi.signIn({ email, password, ...(code !== undefined && { code }) }))
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'code_needed' || needsCode) throw error
      setNeedsCode(true)
    }
  }
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
      {needsCode && <CodeField />}
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
