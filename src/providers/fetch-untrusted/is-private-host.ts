import { forbiddenRange } from './address-guard.ts'
import { parseAddress } from './ip-address.ts'
import type { Resolver } from './resolver.ts'

/**
 * Whether the host of a URL has an address that is not public. A name that cannot be resolved counts as private,
 * because it may belong to a private network.
 */
export async function isPrivateHost(url: URL, resolve: Resolver): Promise<boolean> {
  const literal = parseAddress(url.hostname)
  const addresses = literal === undefined ? await resolved(url.hostname, resolve) : [literal]
  return (
    addresses.length === 0 ||
    addresses.some(address => {
      return address === undefined || forbiddenRange(address, { allowsPrivate: false }) !== undefined
    })
  )
}

async function resolved(name: string, resolve: Resolver) {
  const found = await resolve(name).catch(() => [])
  return found.map(parseAddress)
}
