/** The first customer: an account with money, and a key with a monthly budget. */
import { useRef } from 'preact/hooks'
import { answer, api, ApiError } from '../../api/client.ts'
import { newIdempotencyKey } from '../../api/idempotency-key.ts'
import { ActionForm, MoneyField, TextField, type FormValues } from '../../parts/form.tsx'
import { accountsTexts } from '../accounts/texts.ts'
import { setUpTexts } from './texts.ts'

const words = setUpTexts

export type Customer = {
  readonly account: string
  readonly name: string
  /** The text of the key, which is shown once. */
  readonly key: string
}

type Made = { readonly account: string; readonly name: string; readonly idempotencyKey: string }

export function FirstCustomer({ onMade }: { readonly onMade: (customer: Customer) => void }) {
  // What an earlier try made. A later one goes on from there, so that there are not two accounts.
  const made = useRef<Made | undefined>(undefined)
  const submit = async ({ name = '', amount_usd = '', 'budgets.month': month = '' }: FormValues) => {
    // Before the account is made, which would stay without a key.
    if (!/[1-9]/.test(amount_usd)) throw new ApiError(400, words.noCredit, { param: 'amount_usd' })
    made.current ??= {
      account: (await answer(api.POST('/admin/api/accounts', { body: { name } }))).id,
      name,
      idempotencyKey: newIdempotencyKey(),
    }
    const { account, idempotencyKey } = made.current
    const path = { account }
    if (made.current.name !== name) {
      await answer(api.PATCH('/admin/api/accounts/{account}', { params: { path }, body: { name } }))
      made.current = { ...made.current, name }
    }
    const header = { 'idempotency-key': idempotencyKey }
    await answer(
      api.POST('/admin/api/accounts/{account}/grants', { params: { path, header }, body: { amount_usd } }),
    )
    const { key } = await answer(
      api.POST('/admin/api/accounts/{account}/keys', {
        params: { path },
        body: { name: words.keyName, ...(month !== '' && { budgets: { month } }) },
      }),
    )
    onMade({ account, name, key })
  }
  return (
    <ActionForm submit={words.createCustomer} onSubmit={submit}>
      <TextField
        label={words.customerName}
        name="name"
        hint={accountsTexts.nameHint}
        maxLength={100}
        autoComplete="off"
        required
        hasFocus
      />
      <div class="row-fields">
        <MoneyField label={words.credit} name="amount_usd" hint={words.creditHint} required />
        <MoneyField label={words.monthlyBudget} name="budgets.month" hint={words.monthlyBudgetHint} />
      </div>
    </ActionForm>
  )
}
