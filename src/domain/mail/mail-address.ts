/** SMTP allows at most this many characters in an address, and in the part before the @. */
const CHARS_MAX = 254
const LOCAL_CHARS_MAX = 64
const NAME_CHARS_MAX = 100

/**
 * The addresses that browsers accept in a form: no quotes, comments, spaces or control characters. So an address can
 * add no line to a header or a command, and names exactly one mailbox.
 */
const ADDRESS =
  /^([\w.!#$%&'*+/=?^`{|}~-]+)@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/

/** Letters and digits of any language, and a few signs. */
const NAME = /^[\p{L}\p{M}\p{N} .,&'()+!_-]+$/u

/** `NAME <ADDRESS>`, the sender of mails. Without a name, it is empty. */
export type Mailbox = { readonly name: string; readonly address: string }

/** Completes the sentence “It must be …”. */
export const MAIL_ADDRESS = 'an e-mail address such as ada@example.com, in ASCII'

export function isMailAddress(text: string): boolean {
  const [, local] = ADDRESS.exec(text) ?? []
  return local !== undefined && local.length <= LOCAL_CHARS_MAX && text.length <= CHARS_MAX
}

/** `alerts@example.com` or `Example <alerts@example.com>`. Undefined for any other text. */
export function parseMailbox(text: string): Mailbox | undefined {
  const [, name, address = text.trim()] = /^([^<>]*)<([^<>]+)>\s*$/.exec(text) ?? []
  if (!isMailAddress(address)) return undefined
  const named = name?.trim() ?? ''
  return named === '' || (NAME.test(named) && named.length <= NAME_CHARS_MAX)
    ? { name: named, address }
    : undefined
}

/** The first address that is there twice. Upper and lower case are the same mailbox nearly everywhere. */
export function repeatedAddress(addresses: readonly string[]): string | undefined {
  const lower = addresses.map(address => address.toLowerCase())
  return addresses.find((address, at) => lower.indexOf(address.toLowerCase()) !== at)
}
