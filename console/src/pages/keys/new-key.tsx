/** Creates a key, and shows its secret once. */
import { useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { Dialog, OnceDialog } from '../../parts/dialog.tsx'
import { Secret } from '../../parts/facts.tsx'
import { ActionForm, SelectField, TextField, type FormValues } from '../../parts/form.tsx'
import { Note } from '../../parts/notes.tsx'
import { keysTexts } from './texts.ts'
import { partsTexts } from '../../parts/texts.ts'
import { BudgetFields, LimitFields, writtenTerms } from '../limits/term-fields.tsx'
import { apiUrl } from '../playground/snippets.ts'
import { ExpiryField, expiryIn, RestrictionFields, restrictionsIn } from './key-fields.tsx'

const words = keysTexts

type OpenProject = { readonly id: string; readonly name: string }

export function NewKey({
  account,
  project,
  projects = [],
  onClose,
  onCreated,
}: {
  readonly account: string
  /** The project of the key, if there is no choice. */
  readonly project?: string
  readonly projects?: readonly OpenProject[]
  readonly onClose: () => void
  readonly onCreated: () => void
}) {
  const [made, setMade] = useState<{ readonly key: string; readonly warnings?: readonly string[] }>()
  if (made !== undefined)
    return <SecretDialog title={words.madeTitle} text={made.key} warnings={made.warnings} onClose={onClose} />
  return (
    <Dialog title={words.newTitle} isWide onClose={onClose}>
      <ActionForm
        submit={words.create}
        onCancel={onClose}
        onSubmit={async values => {
          const params = { path: { account } }
          const body = bodyOf(project === undefined ? values : { ...values, project })
          setMade(await answer(api.POST('/admin/api/accounts/{account}/keys', { params, body })))
          onCreated()
        }}
      >
        <TextField label={words.name} name="name" hint={words.nameHint} maxLength={100} hasFocus />
        {projects.length > 0 && (
          <SelectField
            label={words.project}
            name="project"
            choices={[
              { value: '', label: partsTexts.none },
              ...projects.map(({ id, name }) => ({ value: id, label: name })),
            ]}
          />
        )}
        <BudgetFields />
        <Restrictions account={account} />
      </ActionForm>
    </Dialog>
  )
}

/** What few keys need, behind a button: limits, an end, and what the key may call. */
function Restrictions({ account }: { readonly account: string }) {
  const [isOpen, setOpen] = useState(false)
  if (!isOpen)
    return (
      <p>
        <button type="button" class="button small" onClick={() => setOpen(true)}>
          {words.mayUse}
        </button>
      </p>
    )
  return (
    <>
      <LimitFields />
      <p class="soft">
        {words.defaultsApply}{' '}
        <a href={`accounts/${account}/limits`} target="_blank">
          {words.accountDefaults}
        </a>
      </p>
      <ExpiryField at={null} />
      <RestrictionFields />
    </>
  )
}

/** Only what is written, so that the defaults of the account apply to the rest. */
function bodyOf(values: FormValues) {
  const { name, project } = values
  const expires_at = expiryIn(values)
  const { models, routes, allowed_addresses } = restrictionsIn(values)
  return {
    ...(name && { name }),
    ...(project && { project }),
    ...(expires_at !== null && { expires_at }),
    ...(models !== null && { models }),
    ...(routes !== null && { routes }),
    ...(allowed_addresses !== null && { allowed_addresses }),
    ...writtenTerms(values),
  }
}

/** Shows the text of a key, which the gateway does not keep. */
export function SecretDialog({
  title,
  text,
  warnings = [],
  onClose,
}: {
  readonly title: string
  readonly text: string
  /** Models that the catalog does not have. */
  readonly warnings?: readonly string[] | undefined
  readonly onClose: () => void
}) {
  return (
    <OnceDialog
      title={title}
      lead={words.shownOnce}
      text={text}
      copy={words.copyKey}
      done={words.done}
      onClose={onClose}
    >
      <p class="soft">{words.baseUrl}</p>
      <Secret text={apiUrl} label={words.copyBaseUrl} />
      {warnings.map(warning => (
        <Note key={warning} tone="warn">
          {warning}
        </Note>
      ))}
    </OnceDialog>
  )
}
