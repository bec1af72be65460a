import { useState } from 'preact/hooks'
import type { Role } from '../../api/console-routes.ts'
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { OnceDialog } from '../../parts/dialog.tsx'
import { MoneyField, RadioField, type Choice } from '../../parts/form.tsx'
import { Note } from '../../parts/notes.tsx'
import { usersTexts } from './texts.ts'
import { partsTexts } from '../../parts/texts.ts'
import { roleMeaningsTexts, rolesTexts } from '../../texts.ts'

export type ListedUser = components['schemas']['User']

const words = usersTexts

const roles: readonly Choice<Role>[] = (['owner', 'operator', 'support', 'viewer'] as const).map(value => ({
  value,
  label: rolesTexts[value],
  hint: roleMeaningsTexts[value],
}))

/** The role, and for support the amount of credit that it may grant. */
export function RoleFields({ role, grants }: { readonly role: Role; readonly grants: string | null }) {
  const [chosen, choose] = useState(role)
  return (
    <>
      <RadioField label={words.role} name="role" choices={roles} value={role} onChange={choose} />
      {chosen === 'support' && (
        <MoneyField
          label={words.grants}
          name="grants_per_day_usd"
          hint={words.grantsHint}
          defaultValue={grants ?? ''}
        />
      )}
    </>
  )
}

export type NewLink = { readonly email: string; readonly link: string; readonly isMailed: boolean }

/** Shows a new link once, and says whether the user has got it by mail. */
export function LinkDialog({
  of: { email, link, isMailed },
  onClose,
}: {
  readonly of: NewLink
  readonly onClose: () => void
}) {
  return (
    <OnceDialog
      title={isMailed ? words.mailedTitle : words.linkTitle}
      lead={words.linkText}
      text={link}
      copy={words.copyLink}
      done={partsTexts.close}
      onClose={onClose}
    >
      {isMailed ? <p role="status">{words.mailed(email)}</p> : <NotMailed to={email} />}
    </OnceDialog>
  )
}

/** Without a mail server there is nothing to say: nobody expects a mail. */
function NotMailed({ to }: { readonly to: string }) {
  const mail = useResource('mail', () => answer(api.GET('/admin/api/mail')))
  const hasServer = (mail.value?.server ?? null) !== null
  return <div role="status">{hasServer && <Note tone="bad">{words.notMailed(to)}</Note>}</div>
}

export const toneOf = { active: 'good', invited: 'accent', disabled: 'bad' } as const satisfies Record<
  ListedUser['state'],
  string
>
