import { ipv4Of, parseAddress, type IpAddress } from '../../domain/ip-address.ts'

/** Why the gateway must not connect to an address that a client or a provider named. */
export type ForbiddenRange = keyof typeof ranges

/**
 * Everything that is not a public server, from the IANA registries of special-purpose addresses. The first range that
 * contains an address counts. The metadata services come first: some are inside private ranges, and one has a public
 * address.
 */
const ranges = {
  metadata: [
    '169.254.169.254/32', // AWS, Google, Azure, Oracle, OpenStack, DigitalOcean, Hetzner
    '169.254.169.253/32', // AWS: DNS
    '169.254.170.0/24', // AWS: credentials of containers
    '169.254.0.23/32', // Tencent
    '100.100.100.200/32', // Alibaba
    '192.0.0.192/32', // Oracle, older
    '168.63.129.16/32', // Azure: the host agent
    'fd00:ec2::/32', // AWS
    'fd20:ce::254/128', // Google
    'fd00:c1::a9fe:a9fe/128', // Oracle
  ],
  unspecified: ['0.0.0.0/8', '::/128'],
  loopback: ['127.0.0.0/8', '::1/128'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10'],
  /** Between providers of internet access and their customers. */
  carrier_nat: ['100.64.0.0/10'],
  link_local: ['169.254.0.0/16', 'fe80::/10'],
  multicast: ['224.0.0.0/4', 'ff00::/8'],
  broadcast: ['255.255.255.255/32'],
  documentation: ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'],
  benchmark: ['198.18.0.0/15', '2001:2::/48'],
  /** Deprecated tunnels, which carry packets to an IPv4 address that another party may choose. */
  tunnel: ['192.88.99.0/24', '2001::/32', '2002::/16'],
  /** Each network decides by itself which addresses a translator connects to for these. */
  local_nat64: ['64:ff9b:1::/48'],
  reserved: ['192.0.0.0/24', '240.0.0.0/4', '2001::/23'],
} as const satisfies Record<string, readonly string[]>

/** The ranges of networks that an operator may own. The metadata services in these ranges are still forbidden. */
const ownRanges: ReadonlySet<ForbiddenRange> = new Set(['loopback', 'private', 'carrier_nat'])

/** All unicast addresses of the internet. Addresses outside of it are reserved. */
const GLOBAL_UNICAST = blockOf('2000::/3')
/** The last 32 bits are the IPv4 address that a translator connects to. */
const NAT64 = blockOf('64:ff9b::/96')
/** Deprecated forms with an IPv4 address in the last 32 bits, which some systems still read. */
const IPV4_INSIDE = [blockOf('::/96'), blockOf('::ffff:0:0:0/96')]

const blocks = Object.entries(ranges).map(([range, texts]) => ({
  range: range as ForbiddenRange,
  blocks: texts.map(blockOf),
}))

/**
 * The forbidden range that an address is in; undefined for a public address, which may be reached. With
 * `allowsPrivate`, private and loopback addresses may be reached too.
 */
export function forbiddenRange(
  address: IpAddress,
  { allowsPrivate }: { readonly allowsPrivate: boolean },
): ForbiddenRange | undefined {
  const range = rangeOf(address)
  return range !== undefined && allowsPrivate && ownRanges.has(range) ? undefined : range
}

function rangeOf(address: IpAddress): ForbiddenRange | undefined {
  // A zone names an interface of this machine; no public address needs one.
  if (address.hasZone) return 'link_local'
  const found = blocks.find(({ blocks }) => blocks.some(block => isIn(block, address)))
  if (found !== undefined) return found.range
  if (isIn(NAT64, address)) return rangeOf(ipv4Of(address.value))
  if (IPV4_INSIDE.some(block => isIn(block, address))) return rangeOf(ipv4Of(address.value)) ?? 'reserved'
  return address.version === 4 || isIn(GLOBAL_UNICAST, address) ? undefined : 'reserved'
}

type Block = { readonly version: 4 | 6; readonly prefix: bigint; readonly hostBits: bigint }

function isIn({ version, prefix, hostBits }: Block, address: IpAddress): boolean {
  return address.version === version && address.value >> hostBits === prefix
}

/** A block in the notation `address/prefix length`. */
function blockOf(text: string): Block {
  const [base = '', length = ''] = text.split('/')
  const address = parseAddress(base)
  if (address === undefined) throw new Error(`Not an address block: ${text}.`)
  const hostBits = BigInt((address.version === 4 ? 32 : 128) - Number(length))
  return { version: address.version, prefix: address.value >> hostBits, hostBits }
}

/**
 * Names that only a private network knows: those without a dot, and those in a domain that is reserved for private
 * networks or widely used in them (RFC 6761, 6762, 8375, and the names that ICANN does not delegate).
 */
const PRIVATE_NAME =
  /^[^.]*$|\.(?:localhost|localdomain|local|internal|intranet|private|lan|home|corp|svc|home\.arpa)$/

/**
 * Whether the host of a URL is in a private network, or may be: its name is one that only a private network knows, it
 * has an address that is not public, or it cannot be resolved.
 */
export async function isPrivateHost(url: URL, resolve: Resolver): Promise<boolean> {
  const literal = parseAddress(url.hostname)
  // Resolvers of some networks answer every name with an address of their own, so a private name is not resolved.
  if (literal === undefined && PRIVATE_NAME.test(url.hostname.replace(/\.$/, ''))) return true
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

/** Finds the IP addresses of a host name. Rejects with the resolver's code if there are none. */
export type Resolver = (name: string) => Promise<readonly string[]>

/** The resolver of the operating system. Addresses that this machine prefers come first. */
export const systemResolver: Resolver = async name => {
  const found = await Bun.dns.lookup(name, { backend: 'system' })
  return found.map(({ address }) => address)
}
