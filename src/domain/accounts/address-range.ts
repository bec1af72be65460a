import { formatAddress, parseAddress, type IpAddress } from '../ip-address.ts'

/** The IP addresses that begin with the same bits. */
export type AddressRange = {
  /** As the operator wrote it: `10.0.0.0/8`, `2001:db8::/32`, or one address. */
  readonly text: string
  readonly version: 4 | 6
  /** The first address of the range, as a number. */
  readonly first: bigint
  /** The trailing bits of an address that can differ. */
  readonly freeBits: bigint
}

/** The IPv4 spelling that everyone reads in the same way. `010.1` is none: some programs read it as octal. */
const DOTTED = /^(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})$/
const BITS = { 4: 32, 6: 128 } as const

/** A range, or the end of a sentence that says why the text is not one. */
export type ReadRange =
  | { readonly ok: true; readonly range: AddressRange }
  | { readonly ok: false; readonly remedy: string }

const EXAMPLES = 'write an address or a range such as 192.0.2.7, 10.0.0.0/8 or 2001:db8::/32'

/** Reads an address, or a range in CIDR notation. A range must begin at its first address. */
export function readAddressRange(text: string): ReadRange {
  const [start = '', length, ...rest] = text.split('/')
  const address = readAddress(start)
  if (address === undefined || rest.length > 0) return { ok: false, remedy: EXAMPLES }
  const bits = BITS[address.version]
  const prefix = length === undefined ? bits : /^\d{1,3}$/.test(length) ? Number(length) : Infinity
  if (prefix > bits) return { ok: false, remedy: `write a prefix from 0 to ${bits}` }
  const freeBits = BigInt(bits - prefix)
  const first = (address.value >> freeBits) << freeBits
  if (first !== address.value)
    return {
      ok: false,
      remedy: `write ${formatAddress({ ...address, value: first })}/${prefix}, which begins at its first address`,
    }
  return { ok: true, range: { text: text.toLowerCase(), version: address.version, first, freeBits } }
}

/**
 * Addresses of one interface are refused. So are IPv4 addresses in the form of IPv6, because a prefix of one is
 * unclear.
 */
function readAddress(text: string): IpAddress | undefined {
  const address = parseAddress(text)
  if (address === undefined || address.hasZone || text.startsWith('[')) return undefined
  return address.version === 6 || DOTTED.test(text) ? address : undefined
}

/** Whether an address, as the server or a trusted proxy reports it, is in one of the ranges. */
export function isInRanges(text: string, ranges: readonly AddressRange[]): boolean {
  // An IPv4 address that came over IPv6 is read as the IPv4 address.
  const address = parseAddress(text)
  if (address === undefined) return false
  return ranges.some(
    ({ version, first, freeBits }) =>
      version === address.version && address.value >> freeBits === first >> freeBits,
  )
}
