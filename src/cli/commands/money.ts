import { adminPath, type Ask } from '../ask.ts'
import { table, type Outcome } from '../outcome.ts'
import { UNREADABLE, type AccountReply } from './accounts.ts'

/** A credit in the admin API. */
export type GrantReply = {
  readonly id: string
  readonly amount_usd: string
  /** The balance after the credit. For a repeat: after the first credit. */
  readonly available_usd: string
  readonly is_repeat: boolean
}

/** Credits an account. Repeating it with the same idempotency key credits nothing. */
export async function grant(
  ask: Ask,
  request: {
    readonly account: string
    readonly amountUsd: string
    readonly note: string | undefined
    readonly source: string
    readonly idempotencyKey: string | undefined
  },
): Promise<Outcome> {
  const { account, amountUsd, note, source, idempotencyKey } = request
  const granted = await ask<GrantReply>({
    method: 'POST',
    path: adminPath('accounts', account, 'grants'),
    json: { amount_usd: amountUsd, source, ...(note === undefined ? {} : { note }) },
    headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
  })
  if (granted.is_repeat) {
    return {
      value: granted,
      text: `Nothing was credited now: this idempotency key credited ${granted.amount_usd} USD before (${granted.id}).`,
    }
  }
  return {
    value: granted,
    text: `Credited ${granted.amount_usd} USD. ${account} has ${granted.available_usd} USD available.`,
  }
}

/** Takes money from an account. Repeating it with the same idempotency key takes nothing. */
export async function debit(
  ask: Ask,
  request: Correcting & {
    readonly account: string
    readonly amountUsd: string
    readonly allowNegative?: boolean
  },
): Promise<Outcome> {
  const { account, amountUsd, allowNegative = false, note, idempotencyKey } = request
  const debited = await ask<GrantReply>({
    method: 'POST',
    path: adminPath('accounts', account, 'debits'),
    json: { amount_usd: amountUsd, allow_negative: allowNegative, note },
    headers: keyHeader(idempotencyKey),
  })
  const text = debited.is_repeat
    ? `Nothing was taken now: this idempotency key took ${debited.amount_usd} USD before (${debited.id}).`
    : `Took ${debited.amount_usd} USD. ${account} has ${debited.available_usd} USD available.`
  return { value: debited, text }
}

/** Gives back a charge, or a part of it. Repeating it with the same idempotency key gives back nothing. */
export async function refund(
  ask: Ask,
  request: Correcting & { readonly charge: string; readonly amount?: string },
): Promise<Outcome> {
  const { charge, amount, note, idempotencyKey } = request
  const refunded = await ask<GrantReply>({
    method: 'POST',
    path: adminPath('charges', charge, 'refund'),
    json: { amount_usd: amount, note },
    headers: keyHeader(idempotencyKey),
  })
  const text = refunded.is_repeat
    ? `Nothing was given back now: this idempotency key gave back ${refunded.amount_usd} USD before (${refunded.id}).`
    : `Gave back ${refunded.amount_usd} USD of ${charge}. Its account has ${refunded.available_usd} USD available.`
  return { value: refunded, text }
}

/** The options of a debit and a refund. */
export type Correcting = { readonly note?: string; readonly idempotencyKey?: string }

function keyHeader(key: string | undefined): Readonly<Record<string, string>> {
  return key === undefined ? {} : { 'idempotency-key': key }
}

/** Prints the available and the held amount of an account. */
export async function balance(ask: Ask, account: string): Promise<Outcome> {
  const found = await ask<AccountReply>({ method: 'GET', path: adminPath('accounts', account) })
  return {
    value: found,
    text: `available  ${usdText(found.available_usd)}\nheld       ${usdText(found.held_usd)}`,
  }
}

/** Prints one page of the money movements of an account, newest first. */
export async function statement(
  ask: Ask,
  { account, limit, cursor }: { readonly account: string; readonly limit: string; readonly cursor?: string },
): Promise<Outcome> {
  type Line = {
    readonly id: string
    readonly kind: string
    readonly amount_usd: string
    readonly ref: string
    readonly note: string | null
    readonly at: string
  }
  const query = new URLSearchParams({ limit, ...(cursor === undefined ? {} : { cursor }) })
  const page = await ask<{ readonly data: readonly Line[]; readonly next: string | null }>({
    method: 'GET',
    path: `${adminPath('accounts', account, 'statement')}?${query}`,
  })
  const rows = page.data.map(line => [line.at, line.kind, line.amount_usd, line.ref, line.note ?? ''])
  return {
    value: page,
    text: rows.length === 0 ? 'No money movements.' : table(['AT', 'KIND', 'USD', 'REF', 'NOTE'], rows),
    ...(page.next === null ? {} : { note: `Older movements: --cursor ${page.next}` }),
  }
}

function usdText(amount: string | null): string {
  return amount === null ? UNREADABLE : `${amount} USD`
}
