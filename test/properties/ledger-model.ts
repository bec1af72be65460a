import type { HoldKind } from '../../src/domain/ledger/books.ts'
import { HOLD_TTL_MS, type HoldState } from '../../src/domain/ledger/hold.ts'

/**
 * The reference: the books of a few accounts in the simplest form. Money is a bigint without a unit, a hold is an
 * object, and calls are never concurrent.
 */
export class LedgerModel {
  /** The clock of the store. */
  nowMs = 0
  /** In the order of charging. */
  readonly charges: ModelCharge[] = []
  readonly #accounts = new Map<number, { credited: bigint; readonly spent: Record<HoldKind, bigint> }>()
  readonly #corrections = new Map<string, ModelCorrection & { readonly available: bigint }>()
  readonly #credits = new Map<string, ModelCredit & { readonly available: bigint }>()
  readonly #holds = new Map<bigint, ModelHold>()
  readonly #attempts = new Map<bigint, ModelAttempt>()

  balance(accountId: number) {
    const { credited, spent } = this.#account(accountId)
    const held = { text: this.#held(accountId, 'text'), media: this.#held(accountId, 'media') }
    const available = credited - spent.text - spent.media - held.text - held.media
    return { available, held, spent: { ...spent }, credited }
  }

  stateOf(key: bigint): ModelHold['state'] | undefined {
    return this.#holds.get(key)?.state
  }

  credit(credit: ModelCredit, idempotencyKey: string | undefined): Outcome {
    const { key, accountId, amount, source } = credit
    const names = [`id ${key}`, ...(idempotencyKey === undefined ? [] : [`${accountId}: ${idempotencyKey}`])]
    const first = names.map(name => this.#credits.get(name)).find(found => found !== undefined)
    if (first !== undefined) {
      const isSame = first.accountId === accountId && first.amount === amount && first.source === source
      return isSame ? { credit: first.key, available: first.available } : 'error'
    }
    this.#account(accountId).credited += amount
    const { available } = this.balance(accountId)
    for (const name of names) this.#credits.set(name, { ...credit, available })
    return { credit: key, available }
  }

  /** `owner` is the node that places it. */
  placeHold({ key, accountId, kind, amount }: ModelTerms, owner: number): Outcome {
    const same = this.#holds.get(key)
    if (same !== undefined) return same.state === 'open' && same.amount === amount ? 'held' : 'error'
    const { available, held } = this.balance(accountId)
    if (amount > 0n && amount > available) return { refused: available, held: held.text + held.media }
    const expiresAtMs = this.nowMs + HOLD_TTL_MS
    const shortfall = 0n
    const hold = {
      key,
      accountId,
      kind,
      amount,
      owner,
      expiresAtMs,
      state: 'open',
      cost: undefined,
      shortfall,
    } as const
    this.#holds.set(key, { ...hold })
    return 'held'
  }

  captureHold(key: bigint, cost: bigint): Outcome {
    const hold = this.#holds.get(key)
    if (hold === undefined || hold.state === 'released') return 'error'
    if (hold.state === 'captured') return hold.cost === cost ? { cost, shortfall: hold.shortfall } : 'error'
    const held = hold.state === 'expired' ? 0n : hold.amount
    const shortfall = cost > held ? cost - held : 0n
    if (hold.kind === 'media' && (shortfall > 0n || hold.state === 'expired')) return 'error'
    hold.state = 'captured'
    hold.cost = cost
    hold.shortfall = shortfall
    this.#account(hold.accountId).spent[hold.kind] += cost
    const { accountId, kind } = hold
    this.charges.push({ key, accountId, kind, cost, refunded: 0n, isCompensated: false })
    return { cost, shortfall }
  }

  releaseHold(key: bigint): Outcome {
    const hold = this.#holds.get(key)
    // The release of an expired text hold says that its request ended without a charge.
    const isEndedText = hold?.state === 'expired' && hold.kind === 'text'
    if (hold?.state === 'open' || isEndedText) hold.state = 'released'
    return 'released'
  }

  renewHolds(kind: HoldKind, owner: number): Outcome {
    for (const hold of this.#holds.values())
      if (hold.kind === kind && hold.owner === owner && hold.state === 'open')
        hold.expiresAtMs = this.nowMs + HOLD_TTL_MS
    return 'renewed'
  }

  expireHold(key: bigint): Outcome {
    const hold = this.#holds.get(key)
    if (hold?.state !== 'open' || hold.expiresAtMs > this.nowMs) return { isExpired: false }
    hold.state = 'expired'
    return { isExpired: true }
  }

  recordAttempt(key: bigint, accountId: number): Outcome {
    if (!this.#attempts.has(key)) this.#attempts.set(key, { accountId, state: 'timed_out', cost: 0n })
    return 'recorded'
  }

  billAttempt(key: bigint, cost: bigint): Outcome {
    const attempt = this.#attempts.get(key)
    if (attempt?.state !== 'timed_out') return { isBilled: false }
    attempt.state = 'billed'
    attempt.cost = cost
    return { isBilled: true }
  }

  compensate(key: bigint): Outcome {
    const attempt = this.#attempts.get(key)
    if (attempt === undefined || attempt.state === 'timed_out') return 'error'
    const { accountId, cost, state } = attempt
    if (state === 'compensated') return { compensated: cost, isFirst: false }
    attempt.state = 'compensated'
    const account = this.#account(accountId)
    account.spent.text += cost
    account.credited += cost
    this.charges.push({ key, accountId, kind: 'text', cost, refunded: 0n, isCompensated: true })
    return { compensated: cost, isFirst: true }
  }

  debit(debit: ModelCorrection, options: CorrectionOptions & { readonly allowNegative: boolean }): Outcome {
    const { accountId, amount } = debit
    return this.#correct(debit, options, () => {
      const isCovered = options.allowNegative || amount <= this.balance(accountId).available
      if (amount === 0n || !isCovered) return false
      this.#account(accountId).credited -= amount
      return true
    })
  }

  /** `refund.charge` is the key of the charge. */
  refund(refund: Omit<ModelCorrection, 'accountId'>, options: CorrectionOptions): Outcome {
    const charge = this.charges.find(({ key }) => key === refund.charge)
    if (charge === undefined) return 'error'
    const { accountId, kind, cost } = charge
    return this.#correct({ ...refund, accountId }, options, () => {
      const { amount } = refund
      const isPart = amount < cost
      const isLeft = amount > 0n && amount <= cost - charge.refunded
      if (charge.isCompensated || !isLeft || (isPart && options.idempotencyKey === undefined)) return false
      charge.refunded += amount
      this.#account(accountId).spent[kind] -= amount
      return true
    })
  }

  /** Makes a correction unless it repeats an id or an idempotency key. `make` returns false if it is refused. */
  #correct(correction: ModelCorrection, { idempotencyKey }: CorrectionOptions, make: () => boolean): Outcome {
    const { key, accountId, amount, charge } = correction
    const names = [`id ${key}`, ...(idempotencyKey === undefined ? [] : [`${accountId}: ${idempotencyKey}`])]
    const first = names.map(name => this.#corrections.get(name)).find(found => found !== undefined)
    if (first !== undefined) {
      const isSame = first.accountId === accountId && first.amount === amount && first.charge === charge
      return isSame ? { correction: first.key, available: first.available } : 'error'
    }
    if (!make()) return 'error'
    const { available } = this.balance(accountId)
    for (const name of names) this.#corrections.set(name, { ...correction, available })
    return { correction: key, available }
  }

  /** A node closes, and its text holds are freed. */
  closeNode(owner: number): void {
    for (const hold of this.#holds.values())
      if (hold.kind === 'text' && hold.owner === owner) this.releaseHold(hold.key)
  }

  /** The process ends, and what was only in memory is lost. */
  restart(): void {
    for (const hold of this.#holds.values()) {
      if (hold.kind === 'text') this.releaseHold(hold.key)
      hold.owner = -1
    }
  }

  #account(accountId: number) {
    const account = this.#accounts.get(accountId) ?? { credited: 0n, spent: { text: 0n, media: 0n } }
    this.#accounts.set(accountId, account)
    return account
  }

  #held(accountId: number, kind: HoldKind): bigint {
    const open = this.#holds.values().filter(hold => hold.state === 'open' && hold.accountId === accountId)
    return open.reduce((sum, hold) => (hold.kind === kind ? sum + hold.amount : sum), 0n)
  }
}

/** The outcome of a call. */
export type Outcome =
  | 'held'
  | 'released'
  | 'recorded'
  | 'renewed'
  | 'error'
  | { readonly isBilled: boolean }
  | { readonly isExpired: boolean }
  | { readonly compensated: bigint; readonly isFirst: boolean }
  | { readonly credit: bigint; readonly available: bigint }
  | { readonly correction: bigint; readonly available: bigint }
  | { readonly refused: bigint; readonly held: bigint }
  | { readonly cost: bigint; readonly shortfall: bigint }

export type ModelCredit = {
  readonly key: bigint
  readonly accountId: number
  readonly amount: bigint
  readonly source: 'cash' | 'promotions'
}

type ModelCharge = {
  readonly key: bigint
  readonly accountId: number
  readonly kind: HoldKind
  readonly cost: bigint
  readonly isCompensated: boolean
  /** The sum of its refunds. */
  refunded: bigint
}

type ModelCorrection = {
  readonly key: bigint
  readonly accountId: number
  readonly amount: bigint
  /** The key of the refunded charge; undefined for a debit. */
  readonly charge?: bigint
}

type CorrectionOptions = { readonly idempotencyKey: string | undefined }

export type ModelTerms = {
  readonly key: bigint
  readonly accountId: number
  readonly kind: HoldKind
  readonly amount: bigint
}

type ModelHold = ModelTerms & {
  /** The node that renews it; -1 for a node of a former process. */
  owner: number
  expiresAtMs: number
  state: HoldState
  cost: bigint | undefined
  shortfall: bigint
}

type ModelAttempt = {
  readonly accountId: number
  state: 'timed_out' | 'billed' | 'compensated'
  cost: bigint
}
