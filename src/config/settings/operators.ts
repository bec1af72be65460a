import type { Mailbox } from '../../domain/mail/mail-address.ts'
import type { NanoUsd } from '../../domain/money.ts'
import type { SmtpServer } from '../../gateway/ports/events/mail.ts'
import { smtpAddress } from '../forms/servers.ts'
import { buttonText, guessedSecret, headerSecret, mailAddresses, mailbox } from '../forms/texts.ts'
import { dollars, onOff, wholeNumber } from '../forms/values.ts'
import { freePath, webAddress } from '../forms/web.ts'
import type { SettingsOf } from './setting.ts'

const ALERT_EMAILS_MAX = 20
const MAILS_MAX = 1_000_000

/** The admin key, the console, webhooks and mail. */
export type OperatorConfig = {
  readonly adminKey: string | undefined
  /** The path of the console, without a trailing slash. */
  readonly consolePath: `/${string}` | 'off'
  /** Undefined: people sign in with a password. */
  readonly oidcIssuer: string | undefined
  /** Set if and only if the issuer is. */
  readonly oidcClientId: string | undefined
  readonly oidcClientSecret: string | undefined
  /** Undefined for the host of the issuer. */
  readonly oidcName: string | undefined
  /** Commands ask before they credit more than this. */
  readonly grantConfirmUsd: NanoUsd
  /** For those of the operator. Webhooks of accounts are always public. */
  readonly mayWebhooksBePrivate: boolean
  /** Undefined: no mails. */
  readonly smtp: SmtpServer | undefined
  /** Set if and only if `smtp` is. */
  readonly mailFrom: Mailbox | undefined
  /** Of the operators. */
  readonly alertEmails: readonly string[]
  readonly mailsPerAddress: number
  readonly mailsPerDay: number
}

export const operatorSettings: SettingsOf<OperatorConfig> = {
  adminKey: {
    name: 'TOLLGATE_ADMIN_KEY',
    default: null,
    meaning:
      'The admin key, with at least 8 characters; use a long random one. Unset: the first start creates one and ' +
      'stores it in `admin.key`. Commands can have an admin token here while a gateway runs.',
    isSecret: true,
    ...guessedSecret,
  },
  consolePath: {
    name: 'TOLLGATE_CONSOLE',
    default: '/console',
    meaning: 'The path of the console, where operators sign in. `off` serves none.',
    ...freePath,
  },
  oidcIssuer: {
    name: 'TOLLGATE_OIDC_ISSUER',
    default: null,
    meaning:
      'The OpenID provider with which people sign in to the console, such as `https://accounts.example.com`. It needs ' +
      '`TOLLGATE_BASE_URL`. Unset: people sign in with a password.',
    ...webAddress,
  },
  oidcClientId: {
    name: 'TOLLGATE_OIDC_CLIENT_ID',
    default: null,
    meaning:
      'The id of the gateway at the OpenID provider. Required with an issuer. Unset: no OpenID provider.',
    ...headerSecret,
  },
  oidcClientSecret: {
    name: 'TOLLGATE_OIDC_CLIENT_SECRET',
    default: null,
    meaning:
      'The secret of the gateway at the OpenID provider. Required with an issuer. Unset: no OpenID provider.',
    isSecret: true,
    ...headerSecret,
  },
  oidcName: {
    name: 'TOLLGATE_OIDC_NAME',
    default: null,
    meaning: 'What the button for the OpenID provider says. Unset: the host of the issuer.',
    ...buttonText,
  },
  grantConfirmUsd: {
    name: 'TOLLGATE_GRANT_CONFIRM_USD',
    default: '1000',
    meaning: 'Commands that credit an account with more than this ask first, or need `--yes`.',
    ...dollars,
  },
  mayWebhooksBePrivate: {
    name: 'TOLLGATE_ALLOW_PRIVATE_WEBHOOKS',
    default: 'off',
    meaning:
      "`on` lets the operator's webhooks be in private networks, also without TLS. Webhooks of accounts are always " +
      'public, with TLS.',
    ...onOff,
  },
  smtp: {
    name: 'TOLLGATE_SMTP_URL',
    default: null,
    meaning:
      'The mail server for mails about events: `smtp://user:password@mail.example.com:587` with STARTTLS, or `smtps://` ' +
      'with TLS. Unset: no mails.',
    isSecret: true,
    ...smtpAddress,
  },
  mailFrom: {
    name: 'TOLLGATE_MAIL_FROM',
    default: null,
    meaning:
      'The sender of mails, such as `Example AI <alerts@example.com>`. Needed with `TOLLGATE_SMTP_URL`.',
    ...mailbox,
  },
  alertEmails: {
    name: 'TOLLGATE_ALERT_EMAILS',
    default: 'off',
    meaning:
      'The addresses of operators that get mails about all events, separated by commas; at most 20. `off`: only contacts ' +
      'of accounts get mails.',
    ...mailAddresses({ max: ALERT_EMAILS_MAX }),
  },
  mailsPerAddress: {
    name: 'TOLLGATE_MAILS_PER_ADDRESS',
    default: '50',
    meaning:
      'How many mails one address gets in a day (UTC). More are left out, and one mail says how many. An operator gets ' +
      'as many again about the gateway.',
    ...wholeNumber({ min: 1, max: MAILS_MAX }),
  },
  mailsPerDay: {
    name: 'TOLLGATE_MAILS_PER_DAY',
    default: '1000',
    meaning:
      'How many mails all addresses together get in a day (UTC). Mails to operators count, and are always sent.',
    ...wholeNumber({ min: 1, max: MAILS_MAX }),
  },
}
