import type { LimitsPatch } from '../../src/domain/limits/limits-row.ts'
import type { LimitOwner } from '../../src/gateway/ports/ledger/limits.ts'
import type { Id } from '../../src/domain/ids.ts'
import type { HoldKind } from '../../src/domain/ledger/books.ts'
import { usd, ZERO, type NanoUsd } from '../../src/domain/money.ts'
import { chargeForImages, chargeForTokens, chargeForVideo } from '../../src/domain/pricing/charge.ts'
import type { TextTariff } from '../../src/domain/pricing/tariff.ts'
import { NO_USAGE } from '../../src/domain/pricing/usage.ts'
import type { Attempt, Bill } from '../../src/gateway/ports/ledger/attempts.ts'
import type { Audit } from '../../src/gateway/ports/access/audit.ts'
import type { Charge, ImagesCharge, TextCharge, VideoCharge } from '../../src/gateway/ports/ledger/charge.ts'
import type { Hold, Ledger, HoldDemand } from '../../src/gateway/ports/ledger/ledger.ts'
import type { OpenOptions, StoreKind, TestStore } from './test-store.ts'

export const NOW = 1_800_000_000_000

let ids = 0n

export function anId(): Id {
  ids += 1n
  return { key: ids, tail: -ids }
}

export function anAudit(change: Partial<Audit> = {}): Audit {
  return { actor: 'test', action: 'test.change', subject: 'something', atMs: NOW, ...change }
}

/** A new store with an account that has these funds and a key. */
export async function openWithFunds(kind: StoreKind, funds: NanoUsd, options?: OpenOptions) {
  const { store, other, reopen } = await kind.open(options)
  return { store, other, reopen, ledger: store.ledger, ...(await anAccount(store, { funds })) }
}

/** Changes the limits of an account or of its key. */
export async function changeLimits(
  { accounts, apiKeys }: Pick<TestStore, 'accounts' | 'apiKeys'>,
  { accountId, apiKeyId }: LimitOwner,
  limits: LimitsPatch,
): Promise<void> {
  const by = { actor: 'test', atMs: NOW }
  const account = await accounts.findAccountById(accountId)
  const key = (await apiKeys.list(accountId)).find(({ id }) => id === apiKeyId)
  if (key === undefined) await accounts.updateAccount(account!.publicId, { limits }, by)
  else await apiKeys.update(key.publicId, { limits }, by)
}

/** A new account with funds and a key. */
export async function anAccount(
  { accounts, apiKeys, ledger }: TestStore,
  {
    funds = ZERO,
    name,
    publicId,
  }: { readonly funds?: NanoUsd; readonly name?: string; readonly publicId?: string } = {},
): Promise<{ readonly accountId: number; readonly apiKeyId: number }> {
  const { key } = anId()
  const account = await accounts.createAccount({
    publicId: publicId ?? `acct_${key}`,
    name: name ?? `account ${key}`,
    sandboxOnly: false,
    audit: anAudit(),
  })
  const apiKey = await apiKeys.create({
    publicId: `key_${key}`,
    accountId: account.id,
    name: 'default',
    hash: crypto.getRandomValues(new Uint8Array(32)),
    prefix: 'tg_live_abcd',
    audit: anAudit(),
  })
  if (funds > 0n) await ledger.credit({ ...aCredit(account.id), amount: funds })
  return { accountId: account.id, apiKeyId: apiKey.id }
}

export function aCredit(accountId: number) {
  return { id: anId(), accountId, source: 'cash', audit: anAudit() } as const
}

type HoldTerms = {
  readonly accountId: number
  readonly kind: HoldKind
  readonly amount: NanoUsd
  readonly demand?: HoldDemand
}

export function aHold(terms: HoldTerms) {
  return { id: anId(), atMs: NOW, ...terms }
}

/** What a text request asks the queue of holds for. */
export function aTextHold(terms: {
  readonly accountId: number
  readonly amount: NanoUsd
  readonly apiKeyId?: number
  readonly projectId?: number
  readonly tokens?: number
}) {
  const { accountId, amount, apiKeyId = 1, projectId, tokens = 0 } = terms
  const ofKey = { apiKeyId, ...(projectId !== undefined && { projectId }) }
  return { id: anId(), accountId, amount, demand: { ...ofKey, model: 'gpt-x', tokens, amount } }
}

/** Places a hold that must not be refused. */
export async function hold(ledger: Ledger, terms: HoldTerms): Promise<Hold> {
  const outcome = await ledger.placeHold(aHold(terms))
  if (outcome.outcome !== 'held') throw new Error(`The hold of ${terms.amount} was refused.`)
  return outcome.hold
}

export async function available(ledger: Ledger, accountId: number): Promise<NanoUsd> {
  return (await ledger.balance(accountId)).available
}

/** One dollar per input token, two per output token. */
const DOLLAR_A_TOKEN: TextTariff = { input: usd('1000000'), output: usd('2000000') }

/** The charge of a request with this number of input tokens at one dollar each. */
export function aCharge(
  apiKeyId: number,
  { tokens = 1, ...change }: Partial<TextCharge> & { readonly tokens?: number } = {},
): TextCharge {
  const { usage = { ...NO_USAGE, input: tokens }, tariff = DOLLAR_A_TOKEN } = change
  return {
    kind: 'text',
    cost: tariff === null ? ZERO : chargeForTokens(usage, tariff),
    providerCost: null,
    route: 'chat',
    apiKeyId,
    model: 'gpt-x',
    provider: 'main',
    usage,
    provenance: 'reported',
    isClamped: false,
    tariff,
    atMs: NOW,
    ...change,
  }
}

/** The charge of this number of images at one dollar each. */
export function anImagesCharge(apiKeyId: number, images = 1): ImagesCharge {
  const tariff = { perImage: usd('1') }
  return { kind: 'images', ...mediaCharge(apiKeyId), images, tariff, cost: chargeForImages(images, tariff) }
}

/** A charge of this number of dollars that fits a hold of a kind. */
export function aChargeOf(kind: HoldKind, apiKeyId: number, dollars = 1): Charge {
  return kind === 'text' ? aCharge(apiKeyId, { tokens: dollars }) : anImagesCharge(apiKeyId, dollars)
}

/** The charge of a clip at one dollar a second. */
export function aVideoCharge(apiKeyId: number, durationMs = 1000): VideoCharge {
  const tariff = { perSecond: usd('1') }
  return {
    kind: 'video',
    ...mediaCharge(apiKeyId),
    durationMs,
    tariff,
    cost: chargeForVideo(durationMs, tariff),
  }
}

function mediaCharge(apiKeyId: number) {
  return { providerCost: null, route: 'images', apiKeyId, model: 'draw', provider: 'main', atMs: NOW }
}

/** An attempt that timed out, at one dollar per input token. */
export function anAttempt({
  accountId,
  apiKeyId,
  atMs = NOW,
}: {
  readonly accountId: number
  readonly apiKeyId: number
  readonly atMs?: number
}): Extract<Attempt, { state: 'timed_out' }> {
  return {
    requestId: anId(),
    number: 1,
    accountId,
    apiKeyId,
    route: 'chat',
    model: 'gpt-x',
    provider: 'main',
    tariff: DOLLAR_A_TOKEN,
    state: 'timed_out',
    atMs,
  }
}

/** The bill of an attempt that used this number of input tokens. */
export function aBill({ tokens = 1 } = {}): Bill {
  const usage = { ...NO_USAGE, input: tokens }
  return { usage, cost: chargeForTokens(usage, DOLLAR_A_TOKEN), providerCost: null, isClamped: false }
}
