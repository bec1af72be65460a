import { useState } from 'preact/hooks'
import type { Role } from '../../api/console-routes.ts'
import type { components } from '../../api/schema.d.ts'
import { OnceDialog } from '../../parts/dialog.tsx'
import { MoneyField, RadioField, type Choice } from '../../parts/form.tsx'
import { texts } from '../../texts.ts'

export type ListedUser = components['schemas']['User']

const words = texts.users

const roles: readonly Choice<Role>[] = (['owner', 'operator', 'support', 'viewer'] as const).map(value => ({
  value,
  label: texts.roles[value],
  hint: texts.roleMeanings[value],
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

/** Shows a new link once. */
export function LinkDialog({ link, onClose }: { readonly link: string; readonly onClose: () => void }) {
  return (
    <OnceDialog
      title={words.linkTitle}
      lead={words.linkText}
      text={link}
      copy={words.copyLink}
      done={texts.parts.close}
      onClose={onClose}
    />
  )
}

export const toneOf = { active: 'good', invited: 'accent', disabled: 'bad' } as const satisfies Record<
  ListedUser['state'],
  string
>
