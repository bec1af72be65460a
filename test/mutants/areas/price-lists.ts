import type { Mutant } from '../mutant.ts'

const SCALE = 'src/domain/pricing/scale-prices.ts'
const LIST = 'src/domain/catalog/price-list.ts'
const CATALOG = 'src/stores/books/catalog/stored-catalog.ts'
const PROPERTY = 'test/properties/price-lists.test.ts'
const UNIT_TESTS = 'src/domain/catalog/price-list.test.ts'
const SCENARIOS = 'test/scenarios/money/price-lists.test.ts'
const CATALOG_TESTS = 'src/stores/books/catalog/stored-catalog.test.ts'

/** Faults in the prices of accounts. */
export const priceListMutants: readonly Mutant[] = [
  {
    name: 'a factor is not applied to the tiers of a tariff',
    file: SCALE,
    text: 'prices: scaleMembers(tier.prices, factor)',
    replacement: 'prices: tier.prices',
    tests: [PROPERTY],
  },
  {
    name: 'a price that a factor multiplies is rounded down',
    file: SCALE,
    text: 'divideRoundingUp(price * factor, FACTOR_ONE),',
    replacement: '((price * factor) / FACTOR_ONE) as NanoUsd,',
    tests: [PROPERTY],
  },
  {
    name: 'the factor of a list wins over its own price of a model',
    file: LIST,
    text: 'if (own === undefined) return factor',
    replacement: 'if (own === undefined || factor !== undefined) return factor',
    tests: [UNIT_TESTS, PROPERTY],
  },
  {
    name: 'an account whose list is not loaded pays the prices of the catalog',
    file: LIST,
    text: 'if (list !== undefined) return list',
    replacement: 'if (list === undefined || list !== undefined) return list',
    tests: [UNIT_TESTS],
  },
  {
    name: 'text requests and jobs are charged at the prices of the catalog',
    file: 'src/gateway/admission/callable-model.ts',
    text: 'findPricedModel(catalog, caller.account, name)',
    replacement: 'findPricedModel(catalog, {}, name)',
    tests: [SCENARIOS],
  },
  {
    name: 'a price list that an account has can be removed',
    file: CATALOG,
    text: 'if (users.length > 0)',
    replacement: 'if (users.length > USERS_READ)',
    tests: [CATALOG_TESTS],
  },
  {
    name: 'verify does not compare the price list of an account with the audit log',
    file: 'src/stores/books/verify/rules/switch-rules.ts',
    text: 'if (lines.priceList(id) !== priceList)',
    replacement: 'if (lines.priceList(id) === undefined)',
    tests: ['src/stores/sqlite/verify/later-edits.test.ts'],
  },
]
