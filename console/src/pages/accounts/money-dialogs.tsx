/**
 * Dialogs that move money. Each has an idempotency key for as long as it is open, so that pressing the button again
 * after a lost reply moves nothing twice.
 */
import { useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { consoleApi } from '../../api/console-routes.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { newIdempotencyKey } from '../../api/idempotency-key.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Money } from '../../parts/facts.tsx'
import { ActionForm, CheckField, MoneyField, SelectField, TextField } from '../../parts/form.tsx'
import { amountOf, money, nanosOf } from '../../parts/format.ts'
import { toast } from '../../parts/toast.tsx'
import { currentUser, mayOperate } from '../../session.ts'
import { accountsTexts } from './texts.ts'
import type { ListedAccount } from './account-state.tsx'

const words = accountsTexts
const NOTE_LENGTH_MAX = 500

type Credit = components['schemas']['Credit']

type Props = {
  readonly account: ListedAccount
  readonly onClose: () => void
  /** Money has moved. */
  readonly onDone: () => void
}

/** The same key as long as the dialog is open. */
function useIdempotencyKey(): { readonly 'idempotency-key': string } {
  const [key] = useState(newIdempotencyKey)
  return { 'idempotency-key': key }
}

function NoteField() {
  return (
    <TextField
      label={words.note}
      name="note"
      hint={words.noteHint}
      maxLength={NOTE_LENGTH_MAX}
      autoComplete="off"
    />
  )
}

function said(credit: Credit, words: (amount: string) => string): void {
  if (credit.is_repeat) toast(accountsTexts.wasDone, 'warn')
  else toast(words(money(credit.amount_usd.replace(/^-/, ''))))
}

/** Support gives grants only; a payment is money of the customer, which operators book. */
export function Grant({ account, onClose, onDone }: Props) {
  const header = useIdempotencyKey()
  const { role } = currentUser()
  return (
    <Dialog title={words.grantTitle(account.name)} onClose={onClose}>
      <ActionForm
        submit={words.grant}
        onCancel={onClose}
        onSubmit={async ({ amount_usd = '', note = '', source }) => {
          const params = { path: { account: account.id }, header }
          const from = source === 'top_up' ? { source: 'top_up' as const } : {}
          const body = { amount_usd, ...(note !== '' && { note }), ...from }
          const path = '/admin/api/accounts/{account}/grants'
          said(await answer(api.POST(path, { params, body })), words.granted)
          onClose()
          onDone()
        }}
      >
        <p class="soft">
          {words.availableNow} <Money of={account.available_usd} />
        </p>
        <MoneyField
          label={words.amountUsd}
          name="amount_usd"
          required
          hasFocus
          {...(role === 'support' && { hint: <GrantsLeft /> })}
        />
        {mayOperate() && (
          <SelectField
            label={words.source}
            name="source"
            value="grant"
            choices={[
              { value: 'grant', label: words.sources.grant },
              { value: 'top_up', label: words.sources.top_up },
            ]}
          />
        )}
        <NoteField />
      </ActionForm>
    </Dialog>
  )
}

/** What support may still grant today, which other dialogs and browsers change. */
function GrantsLeft() {
  const session = useResource('grants', consoleApi.session)
  const { grants_per_day_usd: perDay } = currentUser()
  const { grants_per_day_usd: limit, granted_today_usd: today } = session.value?.user ?? {}
  const isKnown = typeof limit === 'string' && typeof today === 'string'
  return (
    <>
      {words.grantsPerDay(money(perDay))}{' '}
      {isKnown && words.grantsLeft(money(amountOf(nanosOf(limit) - nanosOf(today))))}
    </>
  )
}

export function Debit({ account, onClose, onDone }: Props) {
  const header = useIdempotencyKey()
  return (
    <Dialog title={words.debitTitle(account.name)} onClose={onClose}>
      <ActionForm
        submit={words.debit}
        isDanger
        onCancel={onClose}
        onSubmit={async ({ amount_usd = '', note = '', allow_negative: mayBeNegative }) => {
          const params = { path: { account: account.id }, header }
          const negative = mayBeNegative === undefined ? {} : { allow_negative: true }
          const body = { amount_usd, ...(note !== '' && { note }), ...negative }
          const path = '/admin/api/accounts/{account}/debits'
          said(await answer(api.POST(path, { params, body })), words.debited)
          onClose()
          onDone()
        }}
      >
        <p class="soft">
          {words.availableNow} <Money of={account.available_usd} />
        </p>
        <MoneyField label={words.amountUsd} name="amount_usd" required hasFocus />
        <NoteField />
        <CheckField label={words.allowNegative} name="allow_negative" hint={words.allowNegativeHint} />
      </ActionForm>
    </Dialog>
  )
}

/** Gives back a charge, or a part of it. */
export function Refund({
  charge,
  amount,
  onClose,
  onDone,
}: {
  /** The id of the request or job. */
  readonly charge: string
  /** What was charged. */
  readonly amount: string
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const header = useIdempotencyKey()
  return (
    <Dialog title={words.refundTitle} onClose={onClose}>
      <ActionForm
        submit={words.refund}
        onCancel={onClose}
        onSubmit={async ({ amount_usd = '', note = '' }) => {
          const params = { path: { charge }, header }
          const body = { ...(amount_usd !== '' && { amount_usd }), ...(note !== '' && { note }) }
          said(await answer(api.POST('/admin/api/charges/{charge}/refund', { params, body })), words.refunded)
          onClose()
          onDone()
        }}
      >
        <p>
          {words.refundText} <Money of={amount.replace(/^-/, '')} /> · <code>{charge}</code>
        </p>
        <MoneyField label={words.amountUsd} name="amount_usd" hint={words.refundHint} hasFocus />
        <NoteField />
      </ActionForm>
    </Dialog>
  )
}
