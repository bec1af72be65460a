import { marginGroups } from '../../../gateway/admin/reports/margins.ts'
import { groupMembers, totalsMembers } from '../account.ts'
import { ok, pageParameters, timeRangeParameters, type Paths } from '../operation.ts'
import {
  about,
  count,
  dateTime,
  idOf,
  nullable,
  object,
  pageSchema,
  ref,
  text,
  usd,
  words,
  type Members,
} from '../schema.ts'

export const margins: Members = {
  charges: count,
  revenue_usd: about(
    'What customers paid, less what was credited back and refunded. It can be negative.',
    usd,
  ),
  provider_cost_usd: about('What the providers bill for the charges, as far as it is known.', usd),
  losses_usd: about(
    'What the providers bill for work that no customer paid for, as far as it is known.',
    usd,
  ),
  margin_usd: about('The revenue less both. It is negative if you paid more than your customers.', usd),
  charges_without_cost: about('The charges whose cost is not known.', count),
  losses_without_cost: about('The work that no customer paid for and whose cost is not known.', count),
}

/** What only the operator sees of the sums of charges. */
export const operatorSums = {
  compensated_usd: about(
    'The part of the cost that was credited back, because the client got an error.',
    usd,
  ),
  provider_cost_usd: about('What the providers bill for the charges, as far as it is known.', usd),
  margin_usd: about('What customers paid less what the providers bill. It has no losses.', usd),
  charges_without_cost: about('The charges whose cost is not known.', count),
} as const satisfies Members

export const operatorSumsExample = {
  compensated_usd: '0',
  provider_cost_usd: '0.00018',
  margin_usd: '0.00005',
  charges_without_cost: 0,
}

export const adminMarginSchemas: Members = {
  Margin: object(margins, {
    model: text,
    provider: text,
    account: nullable(idOf('acct')),
    account_name: nullable(text),
    key: nullable(idOf('key')),
    key_name: nullable(text),
    project: about('Null for keys without a project.', nullable(idOf('proj'))),
    project_name: nullable(text),
    day: { type: 'string', format: 'date' },
  }),
  AdminUsageTotals: object({ ...totalsMembers, ...operatorSums }),
  AdminUsageGroup: object({ ...groupMembers, ...operatorSums }),
}

export const marginExample = {
  charges: 2,
  revenue_usd: '0.00023',
  provider_cost_usd: '0.00018',
  losses_usd: '0',
  margin_usd: '0.00005',
  charges_without_cost: 0,
  losses_without_cost: 0,
}

/** What customers paid, and what it cost the operator. */
export const adminMarginPaths: Paths = {
  margins: {
    get: {
      tag: 'Admin: reading and checking',
      access: 'admin',
      id: 'readMargins',
      summary: 'What customers paid and what it cost, by model, provider, account, key, project or day',
      description:
        'The times are starts of days in UTC. Without them, the report has the current month. The totals are those of all groups.',
      parameters: [
        {
          name: 'by',
          in: 'query',
          description: 'What the sums are grouped by; `model` by default.',
          schema: words(marginGroups),
        },
        {
          name: 'account',
          in: 'query',
          description: 'The id or the name of an account. Default: all.',
          schema: text,
          example: 'ada',
        },
        {
          name: 'sort',
          in: 'query',
          description:
            'Groups in the order of their names, which is the default, or with the most revenue first.',
          schema: words(['name', 'revenue']),
        },
        ...timeRangeParameters,
        ...pageParameters.filter(({ name }) => name !== 'cursor'),
        {
          name: 'cursor',
          in: 'query',
          description: 'The `next` of an earlier page. Without it, the first page is returned.',
          schema: text,
        },
      ],
      replies: ok(
        'A page of the report. Each sum has its group.',
        pageSchema(ref('Margin'), { from: dateTime, to: dateTime, totals: object(margins) }),
        {
          from: '2026-11-01T00:00:00.000Z',
          to: '2026-11-24T00:00:00.000Z',
          data: [{ model: 'gpt-x', ...marginExample }],
          has_more: false,
          next: null,
          totals: marginExample,
        },
      ),
      errors: ['invalid_field', 'not_found', 'unavailable'],
    },
  },
}
