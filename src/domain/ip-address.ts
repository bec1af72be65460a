/** An IP address as a number. An IPv4-mapped IPv6 address is the IPv4 address, because systems connect to that one. */
export type IpAddress = {
  readonly version: 4 | 6
  readonly value: bigint
  /** An interface was named with it (`fe80::1%eth0`). */
  readonly hasZone: boolean
}

const IPV4_BITS = 32n
const GROUPS = 8
const MAPPED_PREFIX = 0xffffn
const LOW_32_BITS = 0xffff_ffffn

/** Reads an address in any spelling that a URL parser or a resolver accepts; undefined for any other text. */
export function parseAddress(text: string): IpAddress | undefined {
  const value = parseIpv4(text)
  if (value !== undefined) return { version: 4, value, hasZone: false }
  const unbracketed = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  const zoneAt = unbracketed.indexOf('%')
  const groups = parseIpv6(zoneAt < 0 ? unbracketed : unbracketed.slice(0, zoneAt))
  if (groups === undefined) return undefined
  const isMapped = groups >> IPV4_BITS === MAPPED_PREFIX
  return {
    version: isMapped ? 4 : 6,
    value: isMapped ? groups & LOW_32_BITS : groups,
    hasZone: zoneAt >= 0,
  }
}

/**
 * The spelling that every system reads in the same way: four decimal numbers, or eight groups of hexadecimal digits.
 */
export function formatAddress({ version, value }: IpAddress): string {
  const [parts, bits, radix, separator] = version === 4 ? [4, 8n, 10, '.'] : ([GROUPS, 16n, 16, ':'] as const)
  return Array.from({ length: parts }, (_, index) => {
    const shifted = value >> (BigInt(parts - 1 - index) * bits)
    return BigInt.asUintN(Number(bits), shifted).toString(radix)
  }).join(separator)
}

/** The bits of an IPv6 address that one network chooses freely: each of its computers can have any of these. */
const HOST_BITS = 64n

/**
 * What one client cannot leave by taking another address: its IPv4 address, or the /64 network of its IPv6 address. A
 * text that is no address is returned as it is.
 */
export function clientNetwork(text: string): string {
  const address = parseAddress(text)
  if (address === undefined) return text
  if (address.version === 4) return formatAddress(address)
  return `${formatAddress({ ...address, value: (address.value >> HOST_BITS) << HOST_BITS })}/64`
}

/** The IPv4 address of 32 bits of an IPv6 address. */
export function ipv4Of(value: bigint): IpAddress {
  return { version: 4, value: value & LOW_32_BITS, hasZone: false }
}

/**
 * One to four numbers, each decimal, octal after `0` or hexadecimal after `0x`. The last number fills the bytes that
 * are left: `127.1`, `0x7f.1`, `0177.0.0.1` and `2130706433` are all 127.0.0.1. A dot may follow.
 */
function parseIpv4(text: string): bigint | undefined {
  const parts = (text.endsWith('.') ? text.slice(0, -1) : text).split('.')
  const numbers = parts.map(parseNumber)
  const last = numbers.pop()
  if (last === undefined || numbers.length > 3) return undefined
  let value = 0n
  for (const number of numbers) {
    if (number === undefined || number > 255n) return undefined
    value = (value << 8n) | number
  }
  const lastBits = IPV4_BITS - 8n * BigInt(numbers.length)
  return last >> lastBits === 0n ? (value << lastBits) | last : undefined
}

function parseNumber(text: string): bigint | undefined {
  if (/^0x[0-9a-f]*$/i.test(text)) return BigInt(text === '0x' || text === '0X' ? 0 : text)
  if (/^0[0-7]+$/.test(text)) return BigInt(`0o${text}`)
  return /^(?:0|[1-9]\d*)$/.test(text) ? BigInt(text) : undefined
}

/** Eight groups; `::` stands for the missing ones, and the last two may be written as an IPv4 address. */
function parseIpv6(text: string): bigint | undefined {
  const halves = withoutDots(text).split('::')
  const [head, tail] = halves.map(half => (half === '' ? [] : half.split(':')))
  if (head === undefined || halves.length > 2) return undefined
  const missing = GROUPS - head.length - (tail?.length ?? 0)
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined
  let value = 0n
  for (const group of [...head, ...Array.from({ length: missing }, () => '0'), ...(tail ?? [])]) {
    if (!/^[0-9a-f]{1,4}$/i.test(group)) return undefined
    value = (value << 16n) | BigInt(`0x${group}`)
  }
  return value
}

/** With an IPv4 address at the end written as two groups. */
function withoutDots(text: string): string {
  return text.replace(/(?<=:)(?:(?:0|[1-9]\d*)\.){3}(?:0|[1-9]\d*)$/, dotted => {
    const value = parseIpv4(dotted)
    return value === undefined ? dotted : `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`
  })
}
