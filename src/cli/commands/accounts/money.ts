import { adminPath, withQuery, type Ask } from '../../ask.ts'
import { CliError, table, type Outcome } from '../../outcome.ts'
import { attributionCells, attributionHead, type Attributed } from '../reports/usage.ts'

/** A credit, a debit or a refund in the admin API. */
type MovedReply = {
  readonly id: string
  readonly amount_usd: string
  /** The balance after the credit. For a repeat: after the first credit. */
  readonly available_usd: string
  readonly is_repeat: boolean
}

/** Credits an account. Repeating it with the same idempotency key credits nothing. */
export async function grant(
  ask: Ask,
  request: Moving & { readonly account: string; readonly amountUsd: string; readonly source: string },
): Promise<Outcome> {
  const { account, amountUsd, note, source, idempotencyKey } = request
  const granted = await moveMoney(ask, {
    path: adminPath('accounts', account, 'grants'),
    json: { amount_usd: amountUsd, source, note },
    idempotencyKey,
  })
  const text = granted.is_repeat
    ? `Nothing was credited now: this idempotency key credited ${granted.amount_usd} USD before (${granted.id}).`
    : `Credited ${granted.amount_usd} USD. ${account} has ${granted.available_usd} USD available.`
  return { value: granted, text }
}

/** Takes money from an account. Repeating it with the same idempotency key takes nothing. */
export async function debit(
  ask: Ask,
  request: Moving & {
    readonly account: string
    readonly amountUsd: string
    readonly allowNegative?: boolean
  },
): Promise<Outcome> {
  const { account, amountUsd, allowNegative = false, note, idempotencyKey } = request
  const debited = await moveMoney(ask, {
    path: adminPath('accounts', account, 'debits'),
    json: { amount_usd: amountUsd, allow_negative: allowNegative, note },
    idempotencyKey,
  }).catch(namingTheFlag)
  const text = debited.is_repeat
    ? `Nothing was taken now: this idempotency key took ${debited.amount_usd} USD before (${debited.id}).`
    : `Took ${debited.amount_usd} USD. ${account} has ${debited.available_usd} USD available.`
  return { value: debited, text }
}

/** The API cannot know how the option is called here. */
function namingTheFlag(error: unknown): never {
  if (!(error instanceof CliError) || error.code !== 'insufficient_balance') throw error
  const message = `${error.message} On the command line, that is --allow-negative.`
  throw new CliError(message, { exitCode: 1, code: error.code, body: error.body })
}

/** Gives back a charge, or a part of it. Repeating it with the same idempotency key gives back nothing. */
export async function refund(
  ask: Ask,
  request: Moving & { readonly charge: string; readonly amount?: string },
): Promise<Outcome> {
  const { charge, amount, note, idempotencyKey } = request
  const refunded = await moveMoney(ask, {
    path: adminPath('charges', charge, 'refund'),
    json: { amount_usd: amount, note },
    idempotencyKey,
  })
  const text = refunded.is_repeat
    ? `Nothing was given back now: this idempotency key gave back ${refunded.amount_usd} USD before (${refunded.id}).`
    : `Gave back ${refunded.amount_usd} USD of ${charge}. Its account has ${refunded.available_usd} USD available.`
  return { value: refunded, text }
}

/** The options that all commands that move money have. */
export type Moving = { readonly note?: string | undefined; readonly idempotencyKey: string }

/** Errors after which the money may have moved. Any other error is a refusal. */
const UNKNOWN_OUTCOMES: ReadonlySet<string> = new Set(['server_unreachable', 'server_error', 'unavailable'])

/**
 * Moves money once for each idempotency key. If the outcome is unknown, the error names the key, so that the command
 * can be repeated. `repeat` is the command to repeat, if it is another one than this.
 */
export async function moveMoney(
  ask: Ask,
  request: {
    readonly path: string
    readonly json: object
    readonly idempotencyKey: string
    readonly repeat?: string
  },
): Promise<MovedReply> {
  const { path, json, idempotencyKey: key, repeat = 'the command' } = request
  try {
    const headers = { 'idempotency-key': key }
    const moved = await ask<MovedReply>({ method: 'POST', path, json, headers })
    return { ...moved, idempotency_key: key } as MovedReply
  } catch (error) {
    if (!(error instanceof CliError) || !UNKNOWN_OUTCOMES.has(error.code)) throw error
    const advice = `The money may have moved. Repeat ${repeat} with --idempotency-key ${key}: it moves at most once.`
    throw new CliError(`${error.message} ${advice}`, {
      exitCode: error.exitCode,
      code: error.code,
      body: { ...error.body, idempotency_key: key },
    })
  }
}

export type StatementOptions = {
  readonly limit: string
  readonly cursor?: string
  readonly kind?: string
  readonly from?: string
  readonly to?: string
}

/** Prints one page of the money movements of an account, newest first. */
export async function statement(
  ask: Ask,
  { account, limit, cursor, kind, from, to }: StatementOptions & { readonly account: string },
): Promise<Outcome> {
  type Line = Attributed & {
    readonly id: string
    readonly kind: string
    readonly amount_usd: string
    readonly ref: string
    readonly note: string | null
    readonly at: string
  }
  const page = await ask<{ readonly data: readonly Line[]; readonly next: string | null }>({
    method: 'GET',
    path: withQuery(adminPath('accounts', account, 'statement'), { limit, cursor, kind, from, to }),
  })
  const head = ['AT', 'KIND', 'USD', 'REF', 'NOTE', ...attributionHead(page.data)]
  const rows = page.data.map(line => [
    line.at,
    line.kind,
    line.amount_usd,
    line.ref,
    line.note ?? '',
    ...attributionCells(line, page.data),
  ])
  return {
    value: page,
    text: rows.length === 0 ? 'No money movements.' : table(head, rows),
    ...(page.next === null ? {} : { note: `Older movements: --cursor ${page.next}` }),
  }
}
