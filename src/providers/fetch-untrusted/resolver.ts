/** Finds the IP addresses of a host name. Rejects with the resolver's code if there are none. */
export type Resolver = (name: string) => Promise<readonly string[]>

/** The resolver of the operating system. Addresses that this machine prefers come first. */
export const systemResolver: Resolver = async name => {
  const found = await Bun.dns.lookup(name, { backend: 'system' })
  return found.map(({ address }) => address)
}
