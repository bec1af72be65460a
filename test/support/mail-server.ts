import { SMTPServer } from 'smtp-server'
import { freePort } from './free-port.ts'

/** A mail as the server received it. */
export type ReceivedMail = {
  readonly from: string
  readonly to: readonly string[]
  /** The header lines, with folded ones as one. */
  readonly headers: readonly string[]
  /** Decoded. */
  readonly text: string
  readonly isEncrypted: boolean
  /** Undefined without a login. */
  readonly user: string | undefined
}

export type MailServer = {
  readonly port: number
  readonly received: ReceivedMail[]
  /** The answers to recipients, such as 550; other recipients are accepted. A promise that never ends is silence. */
  readonly answers: Map<string, number | Promise<never>>
  stop(): Promise<void>
}

/** A real mail server on this machine that keeps its mails in memory. */
export async function startMailServer(
  options: {
    readonly port?: number
    /** TLS from the first byte. */
    readonly secure?: boolean
    /** A certificate that nobody trusts by default. */
    readonly tls?: { readonly key: string; readonly cert: string }
    readonly hasStartTls?: boolean
    /** What it says to recipients that it refuses. */
    readonly refusal?: string
    /** The only password. Without it, the server asks for no login. */
    readonly password?: string
  } = {},
): Promise<MailServer> {
  const received: ReceivedMail[] = []
  const answers: MailServer['answers'] = new Map()
  const server = new SMTPServer({
    logger: false,
    secure: options.secure === true,
    ...options.tls,
    authOptional: options.password === undefined,
    // A client may only log in over TLS, unless there is none.
    allowInsecureAuth: options.hasStartTls !== true,
    disabledCommands: [
      ...(options.hasStartTls === true ? [] : ['STARTTLS']),
      ...(options.password === undefined ? ['AUTH'] : []),
    ],
    onAuth({ username, password }, _, answer) {
      if (password === options.password) return answer(null, { user: username })
      answer(answered(535, `no login with ${password}`))
    },
    async onRcptTo({ address }, _, answer) {
      const code = await answers.get(address)
      answer(code === undefined ? null : answered(code, options.refusal ?? 'not this mailbox'))
    },
    async onData(stream, { envelope, user, secure }, answer) {
      const chunks = await Array.fromAsync(stream)
      received.push({
        ...read(Buffer.concat(chunks).toString()),
        from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
        to: envelope.rcptTo.map(({ address }) => address),
        isEncrypted: secure,
        user: user === undefined ? undefined : String(user),
      })
      answer(null)
    },
  })
  // A client that breaks off is part of the tests.
  server.on('error', () => undefined)
  const port = options.port ?? (await freePort())
  await new Promise<void>(listening => void server.listen(port, '127.0.0.1', listening))
  return {
    port,
    received,
    answers,
    stop: () => {
      for (const connection of server.connections) connection.close()
      return new Promise(resolve => server.close(() => resolve()))
    },
  }
}

function answered(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode })
}

function read(raw: string): Pick<ReceivedMail, 'headers' | 'text'> {
  const end = raw.indexOf('\r\n\r\n')
  const headers = raw
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
  const body = raw.slice(end + 4).replaceAll('\r\n', '\n')
  const encoding = headers.find(line => line.startsWith('Content-Transfer-Encoding: '))?.split(': ')[1]
  return { headers, text: encoding === 'quoted-printable' ? unquoted(body) : body }
}

function unquoted(text: string): string {
  const bytes = text
    .replaceAll(/=\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}
