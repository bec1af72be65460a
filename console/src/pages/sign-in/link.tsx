/** A link that is used once: the first user, an invitation, or a new password. */
import { consoleApi, type Link } from '../../api/console-routes.ts'
import { useResource } from '../../api/resource.ts'
import { ApiError } from '../../api/client.ts'
import { Facts } from '../../parts/facts.tsx'
import { ActionForm, TextField } from '../../parts/form.tsx'
import { Failure, Loading, Note } from '../../parts/notes.tsx'
import { enter } from '../../session.ts'
import { linkTexts, signInTexts } from './texts.ts'
import { rolesTexts } from '../../texts.ts'
import { useCodeField } from './code-field.tsx'
import { Gate } from './gate.tsx'

const words = linkTexts

const PASSWORD_LENGTH_MIN = 12

export function LinkPage({ token, onDone }: { readonly token: string; readonly onDone: () => void }) {
  const { value, error, reload } = useResource(token, () => consoleApi.link(token))
  if (error !== undefined) return <Invalid error={error} onRetry={reload} onDone={onDone} />
  return (
    <Gate title={value === undefined ? signInTexts.title : words.title[value.kind]}>
      {value === undefined ? <Loading lines={3} /> : <LinkForm link={value} token={token} onDone={onDone} />}
    </Gate>
  )
}

function Invalid({
  error,
  onRetry,
  onDone,
}: {
  readonly error: Error
  readonly onRetry: () => void
  readonly onDone: () => void
}) {
  const isUsed = error instanceof ApiError && error.status > 0 && error.status < 500
  return (
    <Gate title={words.invalid}>
      {isUsed ? <Note tone="warn">{words.invalidText}</Note> : <Failure error={error} onRetry={onRetry} />}
      <button type="button" class="button" onClick={onDone}>
        {signInTexts.back}
      </button>
    </Gate>
  )
}

function LinkForm({
  link,
  token,
  onDone,
}: {
  readonly link: Link
  readonly token: string
  readonly onDone: () => void
}) {
  const { kind, email, name, role } = link
  // The fields of the form are the members of the request.
  const { submit, field } = useCodeField(async ({ password = '', ...given }) => {
    enter(await consoleApi.useLink(token, { ...given, password }))
    onDone()
  })
  return (
    <>
      <p>{words.text[kind]}</p>
      {email !== null && (
        <Facts
          of={[
            [words.email, email],
            [words.role, rolesTexts[role]],
          ]}
        />
      )}
      <ActionForm submit={words.submit[kind]} onSubmit={submit}>
        {kind !== 'reset' && (
          <TextField
            label={words.name}
            name="name"
            defaultValue={name ?? ''}
            autoComplete="name"
            maxLength={100}
            required
            hasFocus
          />
        )}
        {email === null && (
          <TextField label={words.email} name="email" type="email" autoComplete="username" required />
        )}
        <TextField
          label={words.password}
          name="password"
          type="password"
          hint={words.passwordHint}
          autoComplete="new-password"
          minLength={PASSWORD_LENGTH_MIN}
          required
          hasFocus={kind === 'reset'}
        />
        {field}
      </ActionForm>
    </>
  )
}
