import type { TextTariff } from './tariff.ts'

/** A factor of 1. Factors have nine decimals. */
export const FACTOR_ONE = 1_000_000_000n

/** The factor for the prices of tokens in each service tier, in billionths: `{priority: 2_000_000_000n}` is × 2. */
export type ServiceTiers = Readonly<Record<string, bigint>>

type Tiered = Pick<TextTariff, 'serviceTiers'>

/** The factor of a service tier, in billionths. It is 1 for a tier without its own factor, and for none. */
export function tierFactor({ serviceTiers }: Tiered, tier: string | undefined): bigint {
  if (serviceTiers === undefined || tier === undefined || !Object.hasOwn(serviceTiers, tier))
    return FACTOR_ONE
  return serviceTiers[tier] as bigint
}

/** Values of a request that ask for the standard prices. */
const standardTiers: ReadonlySet<string> = new Set(['default', 'standard', 'standard_only'])

/**
 * The dearest tier that a request may be served in; undefined for the standard prices. A request that names a tier with
 * a factor gets that tier or the standard one. Without a tier, or with a name that only the provider knows, such as
 * `auto`, it may get any tier that `isPermitted`.
 */
export function dearestTier(
  { serviceTiers }: Tiered,
  asked: string | undefined,
  isPermitted: (tier: string) => boolean,
): string | undefined {
  if (serviceTiers === undefined || (asked !== undefined && standardTiers.has(asked))) return undefined
  const isListed = asked !== undefined && Object.hasOwn(serviceTiers, asked)
  let dearest: string | undefined
  for (const tier of Object.keys(serviceTiers)) {
    if (isListed ? tier !== asked : !isPermitted(tier)) continue
    if (tierFactor({ serviceTiers }, tier) > tierFactor({ serviceTiers }, dearest)) dearest = tier
  }
  return dearest
}

/** The tiers of a tariff, and the dearest one that a request can be charged for. */
export type TierLimit = { readonly serviceTiers: ServiceTiers; readonly dearest: string | undefined }

/**
 * The tier to charge for an answer: the one that it reports, or the dearest one that the request could get if the
 * reported one costs more. The hold covers no dearer one.
 */
export function chargedTier(reported: string | undefined, limit: TierLimit | undefined): string | undefined {
  if (limit === undefined) return reported
  return tierFactor(limit, reported) > tierFactor(limit, limit.dearest) ? limit.dearest : reported
}
