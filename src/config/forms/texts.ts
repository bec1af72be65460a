import {
  isMailAddress,
  MAIL_ADDRESS,
  parseMailbox,
  repeatedAddress,
  type Mailbox,
} from '../../domain/mail/mail-address.ts'
import type { Form } from './form.ts'

export const mailbox: Form<Mailbox> = {
  expected: `${MAIL_ADDRESS}, or a name and an address such as Example <alerts@example.com>`,
  parse: text => parseMailbox(text.trim()),
}

/** `off` is an empty list. */
export function mailAddresses({ max }: { readonly max: number }): Form<readonly string[]> {
  return {
    expected: `off, or 1 to ${max} different e-mail addresses separated by commas, such as ada@example.com`,
    parse: text => {
      if (text === 'off') return []
      const addresses = text.split(',').map(address => address.trim())
      const isFine = addresses.length <= max && repeatedAddress(addresses) === undefined
      return isFine && addresses.every(isMailAddress) ? addresses : undefined
    },
  }
}

const VISIBLE = /^[\u0021-\u007e]+$/
/** A key of this length cannot be guessed over a network by trying every combination. */
const GUESSED_LENGTH_MIN = 8

/** A secret that is sent in a request header. */
export const headerSecret: Form<string> = {
  expected: 'visible ASCII characters without spaces',
  parse: text => (VISIBLE.test(text) ? text : undefined),
}

/** A secret that others could try to guess. */
export const guessedSecret: Form<string> = {
  expected: `at least ${GUESSED_LENGTH_MIN} visible ASCII characters without spaces`,
  parse: text => (VISIBLE.test(text) && text.length >= GUESSED_LENGTH_MIN ? text : undefined),
}

const SECRET_KEY_BYTES = 32
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** The key that secrets in the books are sealed with. */
export const secretKey: Form<Uint8Array> = {
  expected: `${SECRET_KEY_BYTES} random bytes in base64. Make them with "openssl rand -base64 ${SECRET_KEY_BYTES}"`,
  parse: text => {
    const bytes = BASE64.test(text.trim())
      ? Uint8Array.from(atob(text.trim()), c => c.charCodeAt(0))
      : undefined
    return bytes?.byteLength === SECRET_KEY_BYTES ? bytes : undefined
  },
}

const SHOWN_NAME = /^[A-Za-z0-9._-]{1,64}$/

/** A name that is shown in lists and log lines. */
export const shownName: Form<string> = {
  expected: 'at most 64 letters, digits, dots, hyphens and underscores, such as gateway-1',
  parse: text => (SHOWN_NAME.test(text) ? text : undefined),
}

/** A short text on one line. */
export const buttonText: Form<string> = {
  expected: 'at most 40 characters on one line, such as Example login',
  parse: text => (/^[^\p{C}]{1,40}$/u.test(text.trim()) ? text.trim() : undefined),
}
