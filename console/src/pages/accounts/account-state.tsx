/** What all pages about accounts say of one: its state, and the calls about it. */
import type { components } from '../../api/schema.d.ts'
import { Badge, type BadgeTone } from '../../parts/facts.tsx'
import { accountsTexts } from './texts.ts'

const words = accountsTexts

export type ListedAccount = components['schemas']['Account']
export type Account = components['schemas']['LimitedAccount']
export type AccountChange = components['schemas']['AccountChange']

type AccountState = keyof typeof words.states

const toneOf = { active: 'good', suspended: 'warn', closed: 'plain' } as const satisfies Record<
  AccountState,
  BadgeTone
>

export function stateOf({ suspended_at, closed_at }: ListedAccount): AccountState {
  if (closed_at !== null) return 'closed'
  return suspended_at === null ? 'active' : 'suspended'
}

export function AccountBadge({ of: account }: { readonly of: ListedAccount }) {
  const state = stateOf(account)
  return (
    <>
      <Badge tone={toneOf[state]}>{words.states[state]}</Badge>{' '}
      {account.sandbox_only && <Badge>{words.sandboxOnly}</Badge>}
    </>
  )
}

/** The parameters of a path about one account. */
export function at(account: string) {
  return { params: { path: { account } } }
}

/** What the tabs of an account get. */
export type TabProps = {
  readonly account: Account
  readonly onChange: (change: AccountChange) => Promise<void>
  /** Money has moved, or the state is another one. */
  readonly onChanged: () => void
}
