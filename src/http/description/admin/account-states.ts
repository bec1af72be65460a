import { ACCOUNT, account, AT, ofAccount } from './accounts.ts'
import { ok, type Paths } from '../operation.ts'
import {
  about,
  dateTime,
  idOf,
  nullable,
  object,
  ref,
  text,
  usd,
  type Members,
  type Schema,
} from '../schema.ts'

export const adminAccountStateSchemas: Members = {
  Suspension: object({ id: idOf('acct'), name: text, suspended_at: nullable(dateTime) }),
}

const suspension = { id: ACCOUNT, name: 'ada', suspended_at: AT }
const openWork: Schema = { type: 'integer', minimum: 0, examples: [2] }

/** The states of accounts: suspended, active, and closed for good. */
export const adminAccountStatePaths: Paths = {
  'accounts/{account}/suspend': {
    post: {
      ...ofAccount,
      id: 'suspendAccount',
      summary: 'Refuse the keys of an account',
      replies: ok('The account.', ref('Suspension'), suspension),
    },
  },
  'accounts/{account}/resume': {
    post: {
      ...ofAccount,
      id: 'resumeAccount',
      summary: 'Accept the keys of an account again',
      replies: ok('The account.', ref('Suspension'), { ...suspension, suspended_at: null }),
    },
  },
  'accounts/{account}/close': {
    post: {
      ...ofAccount,
      id: 'closeAccount',
      summary: 'Close an account for good',
      description:
        'Its keys are refused, and it takes no credits, refunds or keys. Its books stay. Refused while it has money, owes money or has running work. Repeating it changes nothing.',
      replies: ok('The account.', ref('Account'), { ...account, available_usd: '0', closed_at: AT }),
      errors: ['not_found', 'account_not_empty'],
      errorExtensions: {
        account_not_empty: {
          available_usd: { ...about('Below zero if it owes money.', usd), examples: ['5'] },
          held_usd: { ...usd, examples: ['0'] },
          open_requests: openWork,
          open_jobs: openWork,
        },
      },
    },
  },
}
