import { verifiedParts } from '../../../gateway/ports/ledger/ledger.ts'
import { NOTE_LENGTH_MAX } from '../../admin/money-fields.ts'
import { attributionMembers, chargeExample, chargeMembers, projectOfKey } from '../account.ts'
import { bodyOf, ok, pageParameters, timeRangeParameters, usageParameters, type Paths } from '../operation.ts'
import {
  about,
  always,
  closed,
  count,
  flag,
  dateTime,
  idOf,
  listOf,
  nullable,
  object,
  pageSchema,
  ref,
  text,
  usd,
  words,
  type Members,
} from '../schema.ts'
import { AT, jobExample as job, jobKinds as kinds, lastPage, ofAccount } from './jobs.ts'

const shortText = { type: 'string', minLength: 1, maxLength: NOTE_LENGTH_MAX } as const
const reason = nullable(shortText)

const payerMembers = {
  provider: text,
  account: nullable(idOf('acct')),
  account_name: nullable(text),
  key: nullable(idOf('key')),
  project: projectOfKey,
} as const satisfies Members

const verificationMembers = {
  ok: flag,
  entries: count,
  files_elsewhere: about(
    'The number of stored files of jobs that were not checked, because this gateway does not have them. Always 0 with SQLite or a bucket.',
    count,
  ),
  shared: about(
    'False if the result could not be stored for the other gateways of the database. This gateway acts on it.',
    flag,
  ),
  problems: listOf(
    object({
      id: text,
      concerns: words(['everything', 'account', 'nothing']),
      entry_id: nullable(text),
      message: text,
      accepted: flag,
    }),
  ),
} as const satisfies Members

export const adminCheckSchemas: Members = {
  AdminCharge: object(
    {
      ...chargeMembers,
      provider_cost_usd: about(
        'The cost that the provider reported, or by the `cost` of the row. Null if it is not known. Customers do not see it.',
        nullable(usd),
      ),
      ...payerMembers,
    },
    attributionMembers,
  ),
  AdminRefund: object(
    {
      id: idOf('op'),
      object: always('refund'),
      charge: about('The id of the refunded request or job.', idOf('req', 'img', 'vid')),
      route: text,
      model: text,
      cost_usd: about('The refunded amount, as a negative number.', usd),
      note: nullable(text),
      created_at: dateTime,
      ...payerMembers,
    },
    attributionMembers,
  ),
  Loss: object({
    id: about('The id of the job or of the request.', idOf('req', 'img', 'vid')),
    kind: words(['text', ...kinds]),
    reason: about('Why the job failed, or the state of the attempt.', text),
    account: nullable(idOf('acct')),
    account_name: nullable(text),
    model: text,
    provider: text,
    loss_usd: about('The price of work that no customer pays for.', usd),
    provider_cost_usd: about(
      'The cost that the provider reported, or by the `cost` of the row.',
      nullable(usd),
    ),
    at: dateTime,
  }),
  AuditRow: object({
    id: text,
    actor: text,
    action: text,
    subject: text,
    detail: nullable(text),
    at: dateTime,
  }),
  Reconciliation: object({
    has_run: flag,
    compensated: count,
    compensated_usd: usd,
    closed: count,
    expired: count,
    jobs: object({
      lost: count,
      polled: count,
      ended: count,
      recovered: count,
      released: count,
      late_completions: count,
      archived: count,
      removed_files: count,
      failed: count,
    }),
    failed: count,
  }),
  Verification: object(verificationMembers),
  VerificationState: object({
    running: about(
      'The check that `POST verify` started on this gateway. Null if none runs.',
      nullable(
        object({
          started_at: dateTime,
          step: about(
            'The part that is checked now. Null before the first one.',
            nullable(words(verifiedParts)),
          ),
          checked: about('The parts that were checked.', count),
          of: about('All parts.', count),
        }),
      ),
    ),
    last: about(
      'The last one that ended since the start of the gateway.',
      nullable(object({ started_at: dateTime, ended_at: dateTime, ...verificationMembers })),
    ),
  }),
  Acceptance: closed(
    {},
    {
      accept: about('The id of a problem to accept. It needs `reason`.', nullable(text)),
      reason,
      accept_loss: about('Why the loss of commits is accepted.', reason),
    },
  ),
  Nodes: object({
    data: listOf(
      object({
        name: text,
        version: about('The version of the gateway.', text),
        too_old: about(
          'True if the books were changed for newer gateways, so that this one begins no paid work.',
          flag,
        ),
        lane: about('What the gateway writes through. Null in SQLite.', nullable(count)),
        epoch: about('Grows with each start that takes the lane. Null in SQLite.', nullable(count)),
        last_seen_at: about('When the gateway last wrote.', dateTime),
        clock_offset_ms: about(
          "How far the gateway's clock is ahead of the database's, as of the last minute. Negative if it is behind. Null in SQLite.",
          nullable({ type: 'integer' }),
        ),
        text_holds: about('The number of open holds of text requests. Null in SQLite.', nullable(count)),
      }),
    ),
  }),
  Doctor: object({
    ok: flag,
    checks: listOf(object({ name: text, ok: flag, detail: text }, { is_warning: always(true) })),
    settings: listOf(object({ name: text, value: nullable(text), default: nullable(text), is_set: flag })),
  }),
}

const common = { tag: 'Admin: reading and checking', access: 'admin' } as const

/** Usage, losses, the audit log, and checks of the books. */
export const adminCheckPaths: Paths = {
  usage: {
    get: {
      ...common,
      id: 'listAdminUsage',
      summary: 'Charged requests and jobs, and their refunds, newest first',
      parameters: [ofAccount, ...usageParameters],
      replies: ok(
        'A page. With `account` and `from`, it also has the totals of the range. With `group_by`, its rows are sums.',
        pageSchema(
          { anyOf: [ref('AdminCharge'), ref('AdminRefund'), ref('AdminUsageGroup')] },
          { totals: ref('AdminUsageTotals') },
        ),
        {
          data: [
            {
              ...chargeExample,
              provider: 'sandbox',
              provider_cost_usd: null,
              account: job.account,
              account_name: 'ada',
              key: job.key,
              project: null,
            },
          ],
          ...lastPage,
        },
      ),
      errors: ['invalid_field', 'not_found'],
    },
  },
  losses: {
    get: {
      ...common,
      id: 'listLosses',
      summary: 'Jobs and attempts that cost you money and that no customer paid for, newest first',
      parameters: pageParameters,
      replies: ok('A page.', pageSchema(ref('Loss')), {
        data: [
          {
            id: job.id,
            kind: 'video',
            reason: 'result_lost',
            account: job.account,
            account_name: 'ada',
            model: job.model,
            provider: job.provider,
            loss_usd: '0.25',
            provider_cost_usd: '0.1',
            at: AT,
          },
        ],
        ...lastPage,
      }),
      errors: ['invalid_field'],
    },
  },
  audit: {
    get: {
      ...common,
      id: 'listAudit',
      summary: 'The audit log, newest first',
      parameters: [
        ...pageParameters,
        {
          name: 'actor',
          in: 'query',
          description: 'A part of who made the change, such as an e-mail address.',
          schema: shortText,
          example: 'ada@example.com',
        },
        {
          name: 'action',
          in: 'query',
          description: 'An action such as `key.create`, or what actions are about, such as `key`.',
          schema: shortText,
          example: 'account',
        },
        {
          name: 'subject',
          in: 'query',
          description: 'A part of the id or name of what was changed.',
          schema: shortText,
          example: job.account,
        },
        ...timeRangeParameters,
      ],
      replies: ok('A page.', pageSchema(ref('AuditRow')), {
        data: [
          { id: '7', actor: 'admin', action: 'account.create', subject: job.account, detail: null, at: AT },
        ],
        ...lastPage,
      }),
      errors: ['invalid_field'],
    },
  },
  reconcile: {
    post: {
      ...common,
      id: 'reconcile',
      summary: 'Run the reconciler once',
      replies: ok('What it did.', ref('Reconciliation'), {
        has_run: true,
        compensated: 0,
        compensated_usd: '0',
        closed: 0,
        expired: 0,
        jobs: {
          lost: 0,
          polled: 1,
          ended: 0,
          recovered: 0,
          released: 0,
          late_completions: 0,
          archived: 0,
          removed_files: 0,
          failed: 0,
        },
        failed: 0,
      }),
      errors: [],
    },
  },
  verify: {
    get: {
      ...common,
      id: 'readVerification',
      summary: 'How far a check of the books is, and the last one',
      replies: ok('The checks of this gateway.', ref('VerificationState'), {
        running: { started_at: AT, step: 'jobs', checked: 3, of: 13 },
        last: null,
      }),
      errors: [],
    },
    post: {
      ...common,
      id: 'verify',
      summary: 'Check the books',
      description:
        'If a check runs, the request joins it and gets its result. With `accept` or `accept_loss`, a new check begins after it.',
      body: bodyOf(
        'Acceptance',
        { accept: 'p1', reason: 'Known since the import of May.' },
        { isRequired: false },
      ),
      replies: ok('The problems, if any.', ref('Verification'), {
        ok: true,
        entries: 128,
        files_elsewhere: 0,
        shared: true,
        problems: [],
      }),
      errors: ['not_found'],
    },
  },
  nodes: {
    get: {
      ...common,
      id: 'listNodes',
      summary: 'List the gateways that share the books',
      description:
        'A gateway that was stopped is not listed. One that was killed is listed until another gateway takes its lane.',
      replies: ok('The gateways.', ref('Nodes'), {
        data: [
          {
            name: 'gateway-1',
            version: '0.1.0',
            too_old: false,
            lane: 1,
            epoch: 3,
            last_seen_at: AT,
            clock_offset_ms: -2,
            text_holds: 4,
          },
        ],
      }),
      errors: [],
    },
  },
  settings: {
    get: {
      ...common,
      id: 'listSettings',
      summary: 'The settings in effect, and where each comes from',
      description: 'The value of a secret is `set`, or null if it is not set.',
      replies: ok(
        'All settings.',
        object({
          data: listOf(
            object({
              section: text,
              name: text,
              value: nullable(text),
              default: nullable(text),
              source: words(['environment', 'default']),
              meaning: text,
            }),
          ),
        }),
        {
          data: [
            {
              section: 'Addresses and connections',
              name: 'TOLLGATE_PORT',
              value: '8787',
              default: '8787',
              source: 'default',
              meaning: 'The port.',
            },
          ],
        },
      ),
      errors: [],
    },
  },
  doctor: {
    get: {
      ...common,
      id: 'readDoctor',
      summary: 'Check the settings, the store and each provider',
      replies: ok('The checks.', ref('Doctor'), {
        ok: true,
        checks: [{ name: 'store', ok: true, detail: 'The store can be read.' }],
        settings: [{ name: 'TOLLGATE_PORT', value: '8787', default: '8787', is_set: false }],
      }),
      errors: [],
    },
  },
}
