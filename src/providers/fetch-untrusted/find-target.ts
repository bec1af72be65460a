import { forbiddenRange, type Resolver } from './address-guard.ts'
import { FetchError, RefusedError, networkError, type FetchLimits } from './fetch-limits.ts'
import { formatAddress, parseAddress, type IpAddress } from '../../domain/ip-address.ts'

/** One is tried after another while connections fail. Names with more addresses have them for load, not for repeats. */
const ADDRESSES_MAX = 4

/** The checked target of a URL. */
export type Target = {
  /** To connect to, in this order; undefined if the host of the URL is the address itself. */
  readonly addresses: readonly (string | undefined)[]
  /** In a private network, which the operator has allowed. */
  readonly isPrivate: boolean
}

/**
 * Resolves the host of a URL, once. The connection goes to the addresses that were checked here, so it does not matter
 * if the name has another address a moment later. Throws a `RefusedError` if one of its addresses is not public, and a
 * `FetchError` if it has none.
 */
export async function findTarget(
  url: URL,
  ports: { readonly resolve: Resolver; readonly allowsPrivate: boolean; readonly limits: FetchLimits },
): Promise<Target> {
  const host = url.hostname
  const literal = parseAddress(host)
  if (literal !== undefined) return { addresses: [undefined], isPrivate: isPrivate(literal, ports) }
  // A text that looks like an invalid address could be valid for the system.
  if (/^[\d.]+$/.test(host) || host.startsWith('[')) throw new RefusedError('the URL is not valid')
  const found = await ports.limits
    .race(ports.resolve(host))
    .catch((error: unknown) => Promise.reject(networkError('DNS', error)))
  if (found.length === 0) throw new FetchError('DNS: no address')
  const addresses = found.map(checked)
  // All addresses are checked, even unused ones: a name with some private addresses is an attack.
  const privates = addresses.map(address => isPrivate(address, ports))
  return {
    addresses: addresses.slice(0, ADDRESSES_MAX).map(formatAddress),
    isPrivate: privates.every(Boolean),
  }
}

function checked(text: string): IpAddress {
  const address = parseAddress(text)
  if (address === undefined) throw new RefusedError('the host has an address that cannot be read')
  return address
}

/** Throws a `RefusedError` for an address that must not be reached. */
function isPrivate(address: IpAddress, { allowsPrivate }: { readonly allowsPrivate: boolean }): boolean {
  const range = forbiddenRange(address, { allowsPrivate })
  if (range !== undefined) throw new RefusedError(`the address is not public (${range})`)
  return forbiddenRange(address, { allowsPrivate: false }) !== undefined
}
