/** Addresses of the test's internet, which are public. All their ports are those of one server of the test. */
export const PUBLIC = '93.184.215.14'
export const PUBLIC_V6 = '2606:2800:21f:cb07:6820:80da:af6b:8b2c'

/** Hosts that are this machine, or something else that no fetch may reach, in all spellings. */
export const forbiddenHosts = [
  // IPv4
  '127.0.0.1',
  '127.0.0.1.',
  '127.0.0.2',
  '127.255.255.254',
  '0.0.0.0',
  '0',
  '0x',
  '10.0.0.1',
  '100.64.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '192.168.0.1',
  '198.18.0.1',
  '203.0.113.1',
  '224.0.0.1',
  '255.255.255.255',
  // Other spellings of 127.0.0.1
  '2130706433',
  '017700000001',
  '0x7f000001',
  '0X7F000001',
  '127.1',
  '127.0.1',
  '0177.0.0.1',
  '0177.0.0.01',
  '00000177.0.0.1',
  '0x7f.0.0.1',
  '0x7f.1',
  '0x7f.0x0.0x0.0x1',
  '127.000.000.001',
  '0177.0x0.0.1',
  '%31%32%37.0.0.1',
  '127%2e0%2e0%2e1',
  '１２７.０.０.１',
  '①②⑦.0.0.1',
  '127。0。0。1',
  '127.0.0.1\t',
  '127.0.\n0.1',
  '\u00ad127.0.0.1',
  '127.0.0.1..',
  '127.0.0.1%00.site.test',
  '127.0.0.1%0d%0aHost:site.test',
  // IPv6
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000::0001]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::127.0.0.1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  '[::ffff:169.254.169.254]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[fe80::1%25lo]',
  '[::1%25lo]',
  '[fc00::1]',
  '[ff02::1]',
  '[2001:db8::1]',
] as const

/** Names whose addresses are private, and what the resolver says of them. */
export const forbiddenNames: readonly [string, readonly string[]][] = [
  ['localhost', ['127.0.0.1']],
  ['LOCALHOST.', ['127.0.0.1']],
  ['ⓛocalhost', ['::1']],
  ['a.localhost', ['::1']],
  ['metadata.google.internal', ['169.254.169.254']],
  ['127.0.0.1.nip.test', ['127.0.0.1']],
  ['mapped.test', ['::ffff:127.0.0.1']],
  ['zone.test', ['fe80::1%lo']],
  ['any.test', ['0.0.0.0']],
  ['mixed.test', [PUBLIC, '127.0.0.1']],
  ['mixed-v6.test', [PUBLIC, PUBLIC_V6, '::1']],
  ['late.test', [PUBLIC, PUBLIC, PUBLIC, PUBLIC, PUBLIC, '127.0.0.1']],
  ['octal.test', ['0177.0.0.1']],
  ['broken.test', ['not an address']],
  ['empty.test', ['']],
]

/** A server on every address of this machine, which must not be reached: it counts who connects, and sends `reply`. */
export function forbiddenServer(reply: string) {
  const listener = Bun.listen({
    hostname: '::',
    port: 0,
    socket: {
      open(socket) {
        server.connections += 1
        socket.end(reply)
      },
      data() {},
    },
  })
  const server = { port: listener.port, connections: 0, stop: () => listener.stop(true) }
  return server
}
