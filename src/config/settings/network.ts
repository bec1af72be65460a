import { oneOf, seconds, wholeNumber } from '../forms/values.ts'
import { headerWord, hostName, subnets, webAddress, webOrigins } from '../forms/web.ts'
import { DAY_S, type SettingsOf } from './setting.ts'

const PORT_MAX = 65_535

/** Where the gateway listens, and how it treats the connections of clients. */
export type NetworkConfig = {
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  /** Without a trailing slash. */
  readonly baseUrl: string | undefined
  /** For example, `acme` in `x-acme-cost-usd`. */
  readonly brand: string
  /** Empty trusts none. */
  readonly trustedProxies: readonly { readonly address: string; readonly prefix: number }[]
  readonly proxyHeader: 'x-forwarded-for' | 'forwarded'
  /** `*` for all origins. */
  readonly corsOrigins: '*' | ReadonlySet<string>
  /** Of the head of a request. */
  readonly headTimeoutMs: number
  /** Between two requests of a connection. */
  readonly idleTimeoutMs: number
  /** Without progress of a reply. */
  readonly stallTimeoutMs: number
  readonly drainMs: number
}

export const networkSettings: SettingsOf<NetworkConfig> = {
  host: {
    name: 'TOLLGATE_HOST',
    default: '127.0.0.1',
    meaning: 'The address to listen on. `0.0.0.0` listens on all addresses.',
    ...hostName,
  },
  port: {
    name: 'TOLLGATE_PORT',
    default: '8787',
    meaning: 'The port to listen on. `0` picks a free port.',
    ...wholeNumber({ min: 0, max: PORT_MAX }),
  },
  baseUrl: {
    name: 'TOLLGATE_BASE_URL',
    default: null,
    meaning:
      'The public address of the gateway, for links to clips and for the examples that the first start prints. ' +
      'Unset: the `Host` of each request.',
    ...webAddress,
  },
  brand: {
    name: 'TOLLGATE_BRAND',
    default: 'service',
    meaning: 'The brand in header names: `acme` gives `x-acme-cost-usd`.',
    ...headerWord,
  },
  trustedProxies: {
    name: 'TOLLGATE_TRUST_PROXY',
    default: 'off',
    meaning:
      'The addresses of the reverse proxies, such as `127.0.0.1, 10.0.0.0/8`. Their headers name the client for ' +
      'the log and for keys that are restricted to addresses, and the host and scheme for links to clips. ' +
      '`on` trusts every loopback and private address. Use it only if nothing but your proxies reaches the port: ' +
      'Docker and Kubernetes can give clients of the internet a private address. ' +
      '`off` trusts none.',
    ...subnets,
  },
  proxyHeader: {
    name: 'TOLLGATE_PROXY_HEADER',
    default: 'x-forwarded-for',
    meaning:
      'The header in which trusted proxies name the client: `x-forwarded-for` (with `x-forwarded-host` and ' +
      '`x-forwarded-proto`), or `forwarded`.',
    ...oneOf(['x-forwarded-for', 'forwarded']),
  },
  corsOrigins: {
    name: 'TOLLGATE_CORS_ORIGINS',
    default: '*',
    meaning:
      'The web pages that may call `/v1/*` from a browser: `*` for all, `off` for none, or a list of origins with ' +
      'commas. Credentials are never allowed.',
    ...webOrigins,
  },
  headTimeoutMs: {
    name: 'TOLLGATE_HEAD_TIMEOUT_S',
    default: '10',
    meaning:
      'The time limit for the head of a request, from its first byte on. A slower one is refused with 408.',
    ...seconds({ min: 1, max: DAY_S }),
  },
  idleTimeoutMs: {
    name: 'TOLLGATE_IDLE_TIMEOUT_S',
    default: '620',
    meaning:
      'How long a connection may wait for its next request. Set it higher than the idle timeout of your proxy or ' +
      'load balancer.',
    ...seconds({ min: 1, max: DAY_S }),
  },
  stallTimeoutMs: {
    name: 'TOLLGATE_STALL_TIMEOUT_S',
    default: '600',
    meaning: 'How long a client may stop reading its reply. After that its connection is closed.',
    ...seconds({ min: 1, max: DAY_S }),
  },
  drainMs: {
    name: 'TOLLGATE_DRAIN_S',
    default: '30',
    meaning: 'How long a stop waits for running requests to end.',
    ...seconds({ min: 0, max: DAY_S }),
  },
}
