import type { Mutant } from '../mutant.ts'

const FIND = 'src/gateway/requests/find-request.ts'
const UNIT_TESTS = 'src/gateway/requests/explain-request.test.ts'
const ITEMS = 'src/domain/pricing/itemize-charge.ts'
const ITEM_TESTS = 'src/domain/pricing/itemize-charge.test.ts'
const SCENARIO = 'test/scenarios/requests/explained-requests.test.ts'

/** Faults in what the page of a request shows, and to whom. */
export const requestMutants: readonly Mutant[] = [
  {
    name: 'a customer sees the notes of refunds',
    file: 'src/http/account/requests-json.ts',
    text: '      ...(isForOperator && { note }),\n      created_at',
    replacement: '      note,\n      created_at',
    tests: [SCENARIO],
  },
  {
    name: 'an account sees the charges of other accounts',
    file: FIND,
    text: 'numbers.every(number => number === undefined || number === asker.id)',
    replacement: 'numbers.length > 0',
    tests: [SCENARIO],
  },
  {
    name: 'an account sees the refused requests of other accounts',
    file: FIND,
    text: '(record === undefined || record.accountId === asker.publicId)',
    replacement: '(record === undefined || record.accountId !== undefined)',
    tests: [UNIT_TESTS],
  },
  {
    name: 'an account sees the credits of other accounts',
    file: FIND,
    text: "if (found.kind !== 'request') return found.accountId === asker.id",
    replacement: "if (found.kind !== 'request') return true",
    tests: [SCENARIO],
  },
  {
    name: 'customers read the names of providers',
    file: 'src/gateway/requests/explain-request.ts',
    text: '...(isForOperator ? upstreamLines(record, booked) : []),',
    replacement: '...upstreamLines(record, booked),',
    tests: [UNIT_TESTS],
  },
  {
    name: 'the arithmetic leaves out the factor of the service tier',
    file: ITEMS,
    text: 'units: BigInt(quantity) * price * factor,',
    replacement: 'units: BigInt(quantity) * price * FACTOR_ONE,',
    tests: [ITEM_TESTS],
  },
  {
    name: 'a replay does not name the request that paid',
    file: 'src/gateway/replays/request-coalescer.ts',
    text: 'if (first !== undefined) record.replayOf = first.id',
    replacement: '',
    tests: ['src/gateway/replays/request-coalescer.test.ts'],
  },
  {
    name: 'a request that is refused from memory does not name its limit',
    file: 'src/gateway/admission/admit-caller.ts',
    text: 'record.refusedBy = refusedBy(refusal)',
    replacement: '',
    tests: ['test/scenarios/requests/recorded-routes.test.ts'],
  },
  {
    name: 'requests of all projects are listed',
    file: 'src/stores/books/requests/request-list.ts',
    text: "if (projectId !== undefined) add('project_id = ?', projectId)",
    replacement: '',
    tests: ['test/scenarios/requests/recorded-routes.test.ts'],
  },
  {
    name: 'a flood of refusals leaves a record of each',
    file: 'src/gateway/requests/request-recorder.ts',
    text: 'if (refusals.kept < this.#keptMax) {',
    replacement: 'if (refusals.kept < Infinity) {',
    tests: ['src/gateway/requests/request-recorder.test.ts'],
  },
  {
    name: 'a list puts the text of a key into a URL',
    file: 'src/http/account/requests.ts',
    text: 'if (isApiKeyText(name) && name.length > KEY_PREFIX_LENGTH)',
    replacement: 'if (name.length > 200)',
    tests: [SCENARIO],
  },
]
