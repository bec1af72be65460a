import { useState } from 'preact/hooks'
import { answer, api, ApiError } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { ActionForm, CheckField, MoneyField, TextField } from '../../parts/form.tsx'
import { tokensTexts } from './texts.ts'

const words = tokensTexts

export type AdminToken = components['schemas']['AdminToken']
type Scope = AdminToken['scopes'][number]

/** Those that can be combined. `all` stands alone. */
const combined = ['read', 'metrics', 'grants'] as const satisfies readonly Scope[]

/** Chooses the rights of a new token. Each token has only those that its program needs. */
export function CreateToken({
  onClose,
  onCreated,
}: {
  readonly onClose: () => void
  readonly onCreated: (text: string) => void
}) {
  const [chosen, setChosen] = useState<ReadonlySet<Scope>>(new Set<Scope>(['read']))
  const choose = (scope: Scope, isChosen: boolean) => {
    const next = new Set(chosen)
    if (isChosen) next.add(scope)
    else next.delete(scope)
    setChosen(next)
  }
  const isAll = chosen.has('all')
  return (
    <Dialog title={words.createTitle} onClose={onClose}>
      <ActionForm
        submit={words.create}
        onCancel={onClose}
        onSubmit={async ({ name = '', grants_per_day_usd: grants = '', expires_at: expires = '' }) => {
          const scopes: Scope[] = isAll ? ['all'] : combined.filter(scope => chosen.has(scope))
          if (scopes.length === 0) throw new ApiError(400, words.noScope)
          const body = {
            name,
            scopes,
            ...(!isAll && chosen.has('grants') && { grants_per_day_usd: grants }),
            ...(expires !== '' && { expires_at: new Date(expires).toISOString() }),
          }
          const { token } = await answer(api.POST('/admin/api/tokens', { body }))
          onCreated(token)
        }}
      >
        <TextField label={words.name} name="name" hint={words.nameHint} maxLength={100} required hasFocus />
        <fieldset>
          <legend>{words.scopes}</legend>
          {!isAll &&
            combined.map(scope => (
              <CheckField
                key={scope}
                name={`scope_${scope}`}
                label={words.scopeNames[scope]}
                hint={words.scopeMeanings[scope]}
                isChecked={chosen.has(scope)}
                onChange={isChosen => choose(scope, isChosen)}
              />
            ))}
          <CheckField
            name="scope_all"
            label={words.scopeNames.all}
            hint={words.scopeMeanings.all}
            onChange={isChosen => choose('all', isChosen)}
          />
        </fieldset>
        {!isAll && chosen.has('grants') && (
          <MoneyField label={words.grantsField} name="grants_per_day_usd" required />
        )}
        <TextField label={words.expires} name="expires_at" type="datetime-local" hint={words.expiresHint} />
      </ActionForm>
    </Dialog>
  )
}
