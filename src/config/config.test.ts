import { usd } from '../domain/money.ts'
import { expect, test } from 'bun:test'
import {
  isProxyNamed,
  ConfigError,
  describeConfig,
  readConfig,
  secretFromEnvironment,
  type Environment,
} from './config.ts'

test('an empty environment gives the defaults, frozen', () => {
  const config = readConfig({})

  expect(Object.isFrozen(config)).toBe(true)
  expect(config).toEqual({
    host: '127.0.0.1',
    port: 8787,
    dataDir: './data',
    anchorFile: undefined,
    database: undefined,
    databaseOwner: undefined,
    secretKey: undefined,
    nodeName: undefined,
    baseUrl: undefined,
    adminKey: undefined,
    consolePath: '/console',
    oidcIssuer: undefined,
    oidcClientId: undefined,
    oidcClientSecret: undefined,
    oidcName: undefined,
    brand: 'service',
    isSandboxOn: true,
    catalogFile: undefined,
    moderationUrl: undefined,
    moderationKey: undefined,
    readTimeoutMs: 300_000,
    streamIdleTimeoutMs: 60_000,
    replayTtlMs: 60_000,
    replayBytesMax: 67_108_864,
    redis: undefined,
    reconcileEveryMs: 150_000,
    bodyBytesMax: 67_108_864,
    mediaBodyBytesMax: 671_088_640,
    spoolBytesMax: 10_737_418_240,
    bufferedBytesMax: 1_073_741_824,
    imageWaitMs: 150_000,
    videoWaitMs: 90_000,
    isOpenAiMediaOn: false,
    unknownSubmitTtlMs: 900_000,
    jobTtlMs: 86_400_000,
    imageRetentionMs: 604_800_000,
    videoRetentionMs: undefined,
    s3Bucket: undefined,
    s3Region: 'us-east-1',
    s3Endpoint: undefined,
    s3AccessKeyId: undefined,
    s3SecretAccessKey: undefined,
    isS3PathStyle: undefined,
    s3Prefix: undefined,
    arePrivateAddressesAllowed: false,
    mayWebhooksBePrivate: false,
    smtp: undefined,
    mailFrom: undefined,
    alertEmails: [],
    mailsPerAddress: 50,
    mailsPerDay: 1000,
    holdWaitMs: 5000,
    textHolds: 'hold',
    trustedProxies: [],
    proxyHeader: 'x-forwarded-for',
    corsOrigins: '*',
    headTimeoutMs: 10_000,
    idleTimeoutMs: 620_000,
    stallTimeoutMs: 600_000,
    drainMs: 30_000,
    grantConfirmUsd: usd('1000'),
    requestRecordsMs: 604_800_000,
    requestRecordsMax: 1_000_000,
    requestRecordsBytesMax: 1_073_741_824,
    refusalRecordsMax: 60,
    isMetricsPublic: false,
    metricsKey: undefined,
    logLevel: 'info',
  })
})

test('an empty variable counts as unset', () => {
  const config = readConfig({ TOLLGATE_PORT: '', TOLLGATE_BASE_URL: '  ', TOLLGATE_OTHER: '' })

  expect(config).toEqual(readConfig({}))
})

test.each<[string, string, Partial<ReturnType<typeof readConfig>>]>([
  ['TOLLGATE_PORT', '0', { port: 0 }],
  ['TOLLGATE_HOST', '::', { host: '::' }],
  ['TOLLGATE_ALERT_EMAILS', 'off', { alertEmails: [] }],
  ['TOLLGATE_BASE_URL', 'https://Gate.example.com/ai/', { baseUrl: 'https://gate.example.com/ai' }],
  ['TOLLGATE_BRAND', 'acme-2', { brand: 'acme-2' }],
  ['TOLLGATE_SANDBOX', 'off', { isSandboxOn: false }],
  [
    'TOLLGATE_TRUST_PROXY',
    '127.0.0.1, 10.0.0.0/8,::1',
    {
      trustedProxies: [
        { address: '127.0.0.1', prefix: 32 },
        { address: '10.0.0.0', prefix: 8 },
        { address: '::1', prefix: 128 },
      ],
    },
  ],
  ['TOLLGATE_TRUST_PROXY', 'no', { trustedProxies: [] }],
  ['TOLLGATE_PROXY_HEADER', 'forwarded', { proxyHeader: 'forwarded' }],
  ['TOLLGATE_READ_TIMEOUT_S', '0.25', { readTimeoutMs: 250 }],
  ['TOLLGATE_REPLAY_TTL_S', '0', { replayTtlMs: 0 }],
  ['TOLLGATE_RECONCILE_EVERY_S', '0.5', { reconcileEveryMs: 500 }],
  ['TOLLGATE_UNKNOWN_SUBMIT_TTL_S', '0.1', { unknownSubmitTtlMs: 100 }],
  ['TOLLGATE_JOB_TTL_S', '0.25', { jobTtlMs: 250 }],
  ['TOLLGATE_RETENTION_DAYS', '0.00001', { imageRetentionMs: 864 }],
  ['TOLLGATE_RETENTION_DAYS', '0', { imageRetentionMs: 0 }],
  ['TOLLGATE_VIDEO_RETENTION_DAYS', '0', { videoRetentionMs: 0 }],
  ['TOLLGATE_MAX_BODY_MB', '0.5', { bodyBytesMax: 524_288 }],
  ['TOLLGATE_TEXT_HOLDS', 'check', { textHolds: 'check' }],
  ['TOLLGATE_LOG_LEVEL', 'silent', { logLevel: 'silent' }],
])('%s=%s is read', (name, text, expected) => {
  const config = readConfig({ [name]: text })

  expect(config).toMatchObject(expected)
})

test.each(['on', 'true', 'YES', '1'])(
  'TOLLGATE_TRUST_PROXY=%s trusts loopback and private networks',
  text => {
    const { trustedProxies } = readConfig({ TOLLGATE_TRUST_PROXY: text })

    const networks = trustedProxies.map(({ address, prefix }) => `${address}/${prefix}`)
    expect(networks).toEqual([
      '127.0.0.0/8',
      '10.0.0.0/8',
      '172.16.0.0/12',
      '192.168.0.0/16',
      '::1/128',
      'fc00::/7',
    ])
  },
)

test.each<[string, string, string]>([
  [
    'TOLLGATE_TRUST_PROXY',
    'nginx',
    'on, off, or addresses separated by commas, such as 127.0.0.1, 10.0.0.0/8',
  ],
  ['TOLLGATE_HOST', 'a b', 'a host name or an IP address, such as 127.0.0.1 or 0.0.0.0'],
  ['TOLLGATE_PORT', '65536', 'a whole number from 0 to 65535'],
  ['TOLLGATE_PORT', '-1', 'a whole number from 0 to 65535'],
  ['TOLLGATE_BASE_URL', 'gate.example.com', 'an http or https address'],
  ['TOLLGATE_BASE_URL', 'ftp://gate.example.com', 'an http or https address'],
  ['TOLLGATE_BASE_URL', 'https://me:secret@gate.example.com', 'without user, query or fragment'],
  ['TOLLGATE_BASE_URL', 'https://gate.example.com/?', 'without user, query or fragment'],
  ['TOLLGATE_BRAND', 'Acme', 'lower-case letters'],
  ['TOLLGATE_BRAND', 'a'.repeat(33), 'at most 32'],
  ['TOLLGATE_SANDBOX', 'maybe', 'on or off'],
  ['TOLLGATE_READ_TIMEOUT_S', '0', 'a number of seconds from 0.001 to 86400'],
  ['TOLLGATE_READ_TIMEOUT_S', '5m', 'a number of seconds from 0.001 to 86400'],
  ['TOLLGATE_READ_TIMEOUT_S', '300000', 'a number of seconds from 0.001 to 86400'],
  ['TOLLGATE_READ_TIMEOUT_S', '1e3', 'a number of seconds from 0.001 to 86400'],
  ['TOLLGATE_RECONCILE_EVERY_S', '0', 'a number of seconds from 0.1 to 86400'],
  ['TOLLGATE_RETENTION_DAYS', '0.0000001', 'a number of days from 0 to 36500'],
  ['TOLLGATE_MAX_BODY_MB', '64MB', 'a number of megabytes from 0.001 to 1024'],
  ['TOLLGATE_S3_REGION', 'eu west', 'such as eu-central-1'],
  ['TOLLGATE_TEXT_HOLDS', 'none', 'one of hold, check'],
  ['TOLLGATE_LOG_LEVEL', 'INFO', 'one of debug, info, warn, error, silent'],
])('%s=%s is refused with the variable and a valid value', (name, text, expected) => {
  const [problem, ...others] = problemsOf({ [name]: text })

  expect(problem).toStartWith(`${name} is ${JSON.stringify(text)}. It must be `)
  expect(problem).toContain(expected)
  expect(others).toEqual([])
})

test.each<[Environment, Partial<ReturnType<typeof readConfig>>]>([
  [{}, { s3Region: 'us-east-1', s3Endpoint: undefined, isS3PathStyle: undefined, s3Prefix: undefined }],
  [
    {
      TOLLGATE_S3_ENDPOINT: 'http://minio:9000/',
      TOLLGATE_S3_PATH_STYLE: 'off',
      TOLLGATE_S3_PREFIX: '/a/b.c/',
    },
    { s3Endpoint: 'http://minio:9000', isS3PathStyle: false, s3Prefix: 'a/b.c' },
  ],
])('a bucket with its keys and %p is read', (others, expected) => {
  const keys = { TOLLGATE_S3_ACCESS_KEY_ID: 'AKIA1', TOLLGATE_S3_SECRET_ACCESS_KEY: 'se/cr+et=' }

  const config = readConfig({ TOLLGATE_S3_BUCKET: 'my.results', ...keys, ...others })

  expect(config).toMatchObject({ s3Bucket: 'my.results', s3SecretAccessKey: 'se/cr+et=', ...expected })
})

test.each<[Environment, string]>([
  [
    { TOLLGATE_S3_BUCKET: 'results', TOLLGATE_S3_ACCESS_KEY_ID: 'AKIA1' },
    'TOLLGATE_S3_BUCKET is set without both keys.',
  ],
  [{ TOLLGATE_S3_SECRET_ACCESS_KEY: 'x' }, 'Settings of TOLLGATE_S3_ are set without TOLLGATE_S3_BUCKET.'],
  [{ TOLLGATE_S3_PATH_STYLE: 'off' }, 'Settings of TOLLGATE_S3_ are set without TOLLGATE_S3_BUCKET.'],
])('half of the settings of a bucket, %p, is refused', (environment, expected) => {
  expect(problemsOf(environment)).toEqual([expect.stringContaining(expected)])
})

test('the keys of a bucket are never shown', () => {
  const keys = { TOLLGATE_S3_ACCESS_KEY_ID: 'AKIA1', TOLLGATE_S3_SECRET_ACCESS_KEY: 'my secret' }

  const shown = describeConfig(keys).filter(({ name }) => name in keys)

  expect(shown.map(({ value }) => value)).toEqual(['set', 'set'])
  expect(problemsOf({ TOLLGATE_S3_BUCKET: 'results', ...keys }).join()).not.toContain('my secret')
})

test('all problems are reported together', () => {
  const problems = problemsOf({ TOLLGATE_PORT: 'x', TOLLGATE_SANDBOX: 'x', TOLLGATE_COLOUR: 'red' })

  expect(problems.map(problem => problem.split(' ')[0])).toEqual([
    'TOLLGATE_PORT',
    'TOLLGATE_SANDBOX',
    'TOLLGATE_COLOUR',
  ])
})

test.each(['two words', 'seven77'])('a problem with a secret does not contain the secret: %s', secret => {
  const [problem] = problemsOf({ TOLLGATE_ADMIN_KEY: secret })

  expect(problem).toBe(
    'TOLLGATE_ADMIN_KEY has an invalid value. It must be at least 8 visible ASCII characters without spaces.',
  )
})

test('an admin key of eight characters is accepted', () => {
  expect(readConfig({ TOLLGATE_ADMIN_KEY: 'eight888' }).adminKey).toBe('eight888')
})

test('a moderation key without a moderation URL is refused', () => {
  const problems = problemsOf({ TOLLGATE_MODERATION_KEY: 'k' })

  expect(problems).toEqual([
    'TOLLGATE_MODERATION_KEY is set without TOLLGATE_MODERATION_URL. Set both, or unset the key.',
  ])
})

const MAIL = { TOLLGATE_SMTP_URL: 'smtp://mail.example.com', TOLLGATE_MAIL_FROM: 'alerts@example.com' }

test.each<[string, ReturnType<typeof readConfig>['smtp']]>([
  ['smtp://mail.example.com', { host: 'mail.example.com', port: 587, tls: 'starttls', login: undefined }],
  [
    'smtps://me%40example.com:p%3Aa%2Fs%20s@Mail.example.com:2465/',
    {
      host: 'mail.example.com',
      port: 2465,
      tls: 'implicit',
      login: { user: 'me@example.com', password: 'p:a/s s' },
    },
  ],
  ['smtps://[2001:db8::1]', { host: '2001:db8::1', port: 465, tls: 'implicit', login: undefined }],
  ['smtp://localhost:25', { host: 'localhost', port: 25, tls: 'off', login: undefined }],
  ['smtp://[::1]:25', { host: '::1', port: 25, tls: 'off', login: undefined }],
  ['smtp://relay:25?tls=off', { host: 'relay', port: 25, tls: 'off', login: undefined }],
])('the mail server %s', (url, smtp) => {
  expect(readConfig({ ...MAIL, TOLLGATE_SMTP_URL: url }).smtp).toEqual(smtp)
})

test.each([
  'mail.example.com',
  'https://mail.example.com',
  'smtp://',
  'smtp://mail.example.com:99999',
  'smtp://mail.example.com/path',
  'smtp://mail.example.com?tls=on',
  'smtps://mail.example.com?tls=off',
  'smtp://:secret-pass@mail.example.com',
  'smtp://user:secret-pass%0d%0aQUIT@mail.example.com',
  'smtp://user:secret-pass%zz@mail.example.com',
  'smtp://ma%20il.example.com',
])('the mail server %s is refused, without a word of its password', url => {
  const problems = problemsOf({ ...MAIL, TOLLGATE_SMTP_URL: url })

  expect(problems).toEqual([
    expect.stringMatching(/^TOLLGATE_SMTP_URL has an invalid value. It must be smtp:/),
  ])
  expect(problems.join()).not.toContain('secret-pass')
})

test.each<[string, NonNullable<ReturnType<typeof readConfig>['redis']>]>([
  [
    'redis://cache',
    { host: 'cache', port: 6379, isTls: false, user: undefined, password: undefined, database: 0 },
  ],
  [
    'rediss://gate:p%3Aa%2Fs%20s@Cache.example.com:7000/12',
    { host: 'cache.example.com', port: 7000, isTls: true, user: 'gate', password: 'p:a/s s', database: 12 },
  ],
  [
    'valkeys://:word@[2001:db8::1]/',
    { host: '2001:db8::1', port: 6379, isTls: true, user: undefined, password: 'word', database: 0 },
  ],
])('the cache %s', (url, redis) => {
  expect(readConfig({ TOLLGATE_REDIS_URL: url }).redis).toEqual(redis)
})

test.each([
  'cache.example.com:6379',
  'https://cache.example.com',
  'redis://',
  'redis://cache:99999',
  'redis://cache/one',
  'redis://cache/0/1',
  'redis://cache?db=1',
  'redis://gate@cache',
  'redis://gate:secret-pass%0d%0aFLUSHALL@cache',
  'redis://gate:secret-pass%zz@cache',
])('the cache %s is refused, without a word of its password', url => {
  const problems = problemsOf({ TOLLGATE_REDIS_URL: url })

  expect(problems).toEqual([
    expect.stringMatching(/^TOLLGATE_REDIS_URL has an invalid value. It must be redis:/),
  ])
  expect(problems.join()).not.toContain('secret-pass')
})

const KEYS = {
  TOLLGATE_SECRET_KEY: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
  TOLLGATE_ADMIN_KEY: 'admin-key',
}

test.each<[string, NonNullable<ReturnType<typeof readConfig>['database']>]>([
  [
    'postgres://gate@db.example.com/books',
    {
      host: 'db.example.com',
      port: 5432,
      user: 'gate',
      password: undefined,
      database: 'books',
      tls: 'disable',
      rootCertificate: undefined,
      isPooled: false,
    },
  ],
  [
    'postgresql://ga%40te:p%3Aa%2Fs%20s@[2001:db8::1]:6432/my%20books?pgbouncer=true&sslmode=verify-full&sslrootcert=/etc/ca.pem',
    {
      host: '2001:db8::1',
      port: 6432,
      user: 'ga@te',
      password: 'p:a/s s',
      database: 'my books',
      tls: 'verify-full',
      rootCertificate: '/etc/ca.pem',
      isPooled: true,
    },
  ],
])('the database %s', (url, database) => {
  expect(readConfig({ ...KEYS, TOLLGATE_DATABASE_URL: url })).toMatchObject({
    database,
    databaseOwner: undefined,
    secretKey: new Uint8Array(32),
  })
})

test.each([
  'db.example.com/books',
  'mysql://gate:secret-pass@db/books',
  'postgres://db/books',
  'postgres://gate:secret-pass@db',
  'postgres://gate:secret-pass@db/',
  'postgres://gate:secret-pass@db/a/b',
  'postgres://gate:secret-pass@/books?host=/run',
  'postgres://gate:secret-pass@db:99999/books',
  'postgres://gate:secret-pass%zz@db/books',
  'postgres://gate:secret-pass@db/books?sslmode=prefer',
  'postgres://gate:secret-pass@db/books?sslmode=require&sslmode=disable',
  'postgres://gate:secret-pass@db/books?sslmode=require&sslrootcert=ca.pem',
  'postgres://gate:secret-pass@db/books?pgbouncer=1',
  'postgres://gate:secret-pass@db/books?channel_binding=require',
  'postgres://gate:secret-pass@db/books#x',
])('the database %s is refused, without a word of its password', url => {
  for (const name of ['TOLLGATE_DATABASE_URL', 'TOLLGATE_DATABASE_OWNER_URL']) {
    const problems = problemsOf({ ...KEYS, [name]: url })

    expect(problems).toEqual([
      expect.stringContaining(`${name} has an invalid value. It must be postgres://USER:PASSWORD@HOST`),
    ])
    expect(problems.join()).not.toContain('secret-pass')
  }
})

test.each([
  '',
  'c2hvcnQ=',
  'no base64, but as long as the key of 32 bytes',
  `${KEYS.TOLLGATE_SECRET_KEY}AAAA`,
])('the secret key "%s" is refused, and the sentence says how to make one', secretKey => {
  const environment = { ...KEYS, TOLLGATE_DATABASE_URL: DATABASE, TOLLGATE_SECRET_KEY: secretKey }

  expect(problemsOf(environment)).toEqual([expect.stringContaining('openssl rand -base64 32')])
})

const DATABASE = 'postgres://gate:secret-pass@db/books'

test.each<[Environment, string]>([
  [
    { ...KEYS, TOLLGATE_ADMIN_KEY: '' },
    'TOLLGATE_DATABASE_URL is set without TOLLGATE_ADMIN_KEY. Make a key',
  ],
  [{ ...KEYS, TOLLGATE_ANCHOR_FILE: 'x' }, 'TOLLGATE_ANCHOR_FILE is set with TOLLGATE_DATABASE_URL'],
  [{ ...KEYS, TOLLGATE_NODE_NAME: 'a b' }, 'TOLLGATE_NODE_NAME is "a b". It must be at most 64 letters'],
])('with a database, %p is refused', (environment, sentence) => {
  expect(problemsOf({ ...environment, TOLLGATE_DATABASE_URL: DATABASE })).toEqual([
    expect.stringContaining(sentence),
  ])
})

test.each([
  ['TOLLGATE_DATABASE_OWNER_URL', DATABASE],
  ['TOLLGATE_SECRET_KEY', KEYS.TOLLGATE_SECRET_KEY],
  ['TOLLGATE_NODE_NAME', 'one'],
])('%s without a database is refused', (name, value) => {
  expect(problemsOf({ [name]: value })).toEqual([
    `${name} is set without TOLLGATE_DATABASE_URL. Set the database, or unset ${name}.`,
  ])
})

test.each([
  ['TOLLGATE_MAIL_FROM', 'alerts'],
  ['TOLLGATE_MAIL_FROM', 'a@b.example\r\nBcc: c@d.example'],
  ['TOLLGATE_MAIL_FROM', 'Ada\nBcc: c@d.example <a@b.example>'],
  ['TOLLGATE_ALERT_EMAILS', 'a@b.example,'],
  ['TOLLGATE_ALERT_EMAILS', 'a@b.example, A@B.example'],
  ['TOLLGATE_ALERT_EMAILS', 'a b@c.example'],
  ['TOLLGATE_MAILS_PER_DAY', '0'],
])('%s=%s is refused', (name, value) => {
  const problems = problemsOf({ ...MAIL, [name]: value })

  expect(problems[0]).toStartWith(`${name} is ${JSON.stringify(value)}. It must be `)
})

test.each([
  [{ TOLLGATE_SMTP_URL: MAIL.TOLLGATE_SMTP_URL }, 'TOLLGATE_SMTP_URL is set without TOLLGATE_MAIL_FROM.'],
  [{ TOLLGATE_MAIL_FROM: 'a@b.example' }, 'TOLLGATE_MAIL_FROM is set without TOLLGATE_SMTP_URL,'],
  [{ TOLLGATE_ALERT_EMAILS: 'a@b.example' }, 'TOLLGATE_ALERT_EMAILS is set without TOLLGATE_SMTP_URL,'],
])('settings of mails that need another one are refused: %j', (environment, sentence) => {
  expect(problemsOf(environment)).toEqual([expect.stringContaining(sentence)])
})

test.each<[Environment, number]>([
  [{}, 640],
  [{ TOLLGATE_MAX_BODY_MB: '2' }, 2],
  [{ TOLLGATE_MAX_BODY_MB: '2', TOLLGATE_MAX_MEDIA_BODY_MB: '3' }, 3],
])('with %j, a media body may have %d MB', (environment, limitMb) => {
  expect(readConfig(environment).mediaBodyBytesMax).toBe(limitMb * 1_048_576)
  expect(describeConfig(environment).find(({ name }) => name === 'TOLLGATE_MAX_MEDIA_BODY_MB')?.value).toBe(
    String(limitMb),
  )
})

test.each([
  ['64', '320', []],
  ['64.001', '320', ['TOLLGATE_MAX_BODY_MB']],
  ['241', '1024', ['TOLLGATE_MAX_BODY_MB']],
])('a body of %s MB and %s MB of memory for all bodies', (body, memory, refused) => {
  const problems = problemsOf({ TOLLGATE_MAX_BODY_MB: body, TOLLGATE_MAX_BUFFERED_MB: memory })

  expect(problems.map(problem => problem.split(' ')[0] ?? '')).toEqual(refused)
})

test.each([
  ['640', '2560', []],
  ['640.001', '2560', ['TOLLGATE_MAX_MEDIA_BODY_MB']],
])('a media body of %s MB and %s MB of disk space for inputs', (body, spool, refused) => {
  const problems = problemsOf({ TOLLGATE_MAX_MEDIA_BODY_MB: body, TOLLGATE_MAX_SPOOL_MB: spool })

  expect(problems.map(problem => problem.split(' ')[0] ?? '')).toEqual(refused)
})

test.each([
  ['TOLLGATE_PROT', 'TOLLGATE_PORT'],
  ['TOLLGATE_READ_TIMEOUT', 'TOLLGATE_READ_TIMEOUT_S'],
  ['TOLLGATE_DATA', 'TOLLGATE_DATA_DIR'],
])('the mistyped %s is refused, and %s is suggested', (typed, meant) => {
  const problems = problemsOf({ [typed]: '1' })

  expect(problems).toEqual([`${typed} is not a setting. Did you mean ${meant}? Rename or unset it.`])
})

test('an unknown variable with the prefix of the settings is refused', () => {
  expect(problemsOf({ TOLLGATE_COLOUR_SCHEME: 'red' })).toEqual([
    'TOLLGATE_COLOUR_SCHEME is not a setting. Unset it, or rename it: names that begin with TOLLGATE_ are settings of the gateway.',
  ])
})

test.each(['DATABASE_URL', 'REDIS_URL', 'S3_BUCKET', 'TOLGATE_HOST', 'PATH', 'MAIN_API_KEY'])(
  '%s is a variable of another program, and is ignored',
  name => {
    expect(readConfig({ [name]: 'x' })).toEqual(readConfig({}))
  },
)

test.each([
  ['TOLLGATE_PORT', 'tcp://10.0.0.1:80'],
  ['TOLLGATE_SERVICE_HOST', '10.0.0.1'],
  ['TOLLGATE_SERVICE_PORT_HTTP', '80'],
  ['TOLLGATE_PORT_8787_TCP_ADDR', '10.0.0.1'],
  ['TOLLGATE_ADMIN_SERVICE_HOST', '10.0.0.1'],
  ['TOLLGATE_ADMIN_PORT', 'udp://10.0.0.1:80'],
])('%s=%s is set by Kubernetes, and counts as unset', (name, text) => {
  expect(readConfig({ [name]: text })).toEqual(readConfig({}))
  expect(describeConfig({ [name]: text })).toEqual(describeConfig({}))
})

test('the description has every value in effect and hides secrets', () => {
  const rows = describeConfig({
    TOLLGATE_ADMIN_KEY: 'hidden-key',
    TOLLGATE_PORT: '9000',
    TOLLGATE_SMTP_URL: 'smtp://me:hidden-key@mail.example.com',
  })

  const values = new Map(rows.map(row => [row.name, row]))
  expect(values.get('TOLLGATE_ADMIN_KEY')).toMatchObject({ value: 'set', isSet: true, default: null })
  expect(values.get('TOLLGATE_SMTP_URL')).toMatchObject({ value: 'set', isSet: true })
  expect(values.get('TOLLGATE_PORT')).toMatchObject({ value: '9000', isSet: true, default: '8787' })
  expect(values.get('TOLLGATE_HOST')).toMatchObject({ value: '127.0.0.1', isSet: false })
  expect(JSON.stringify(rows)).not.toContain('hidden-key')
})

test('a secret from the environment is trimmed, and an empty one is absent', () => {
  expect(secretFromEnvironment('MAIN_API_KEY', { MAIN_API_KEY: 'sk-1\n' })).toBe('sk-1')
  expect(secretFromEnvironment('MAIN_API_KEY', { MAIN_API_KEY: '' })).toBeUndefined()
  expect(secretFromEnvironment('MAIN_API_KEY', {})).toBeUndefined()
})

function problemsOf(environment: Environment): readonly string[] {
  try {
    readConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

test.each([
  ['HTTPS_PROXY', 'http://proxy:3128', true],
  ['http_proxy', 'http://proxy:3128', true],
  ['HTTPS_PROXY', ' ', false],
  ['NO_PROXY', '*', false],
])('%s=%s names a proxy: %p', (name, value, isNamed) => {
  expect(isProxyNamed({ [name]: value })).toBe(isNamed)
})
