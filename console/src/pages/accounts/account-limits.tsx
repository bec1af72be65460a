/** The limits and budgets of an account, those for single models, and the defaults of its new keys. */
import { DefaultsCard } from '../keys/defaults.tsx'
import { ModelLimits } from '../limits/model-limits.tsx'
import { TermsCard } from '../limits/terms-card.tsx'
import { keysTexts } from '../keys/texts.ts'
import type { TabProps } from './account-state.tsx'

export function AccountLimits({ account, onChange }: TabProps) {
  const isClosed = account.closed_at !== null
  return (
    <div class="stack">
      <TermsCard terms={account} isClosed={isClosed} onSave={onChange} />
      <ModelLimits
        perModel={account.per_model}
        isClosed={isClosed}
        onSave={per_model => onChange({ per_model })}
      />
      <DefaultsCard
        defaults={account.key_defaults}
        text={keysTexts.accountDefaultsText}
        prefix="key_defaults."
        isClosed={isClosed}
        onSave={key_defaults => onChange({ key_defaults })}
      />
    </div>
  )
}
