import type { Mutant } from '../mutant.ts'

const OWN_SITE = 'src/http/console/own-site.ts'
const OWN_SITE_TESTS = 'src/http/console/own-site.test.ts'
const CALLS = 'src/http/console/calls.ts'
const SIGN_IN = 'src/gateway/admin/users/sign-in.ts'
const ROLES = 'test/scenarios/console/console-roles.test.ts'
const SIGN_INS = 'test/scenarios/console/console-sign-in.test.ts'

/** Faults in the sign-in to the console, and in what its users may do. */
export const consoleMutants: readonly Mutant[] = [
  {
    name: 'another port of the host may ask for changes',
    file: OWN_SITE,
    text: 'new URL(url).host === host',
    replacement: "new URL(url).hostname === host.split(':')[0]",
    tests: [OWN_SITE_TESTS],
  },
  {
    name: 'a page without TLS may ask for changes of a console behind TLS',
    file: OWN_SITE,
    text: 'if (scheme !== undefined && protocol !== `${scheme}:`) return false',
    replacement: '',
    tests: [OWN_SITE_TESTS],
  },
  {
    name: 'a change without the header Origin is admitted',
    file: OWN_SITE,
    text: `if (origin === null) throw crossSite('Its header "Origin" is missing.')`,
    replacement: 'if (origin === null) return',
    tests: [OWN_SITE_TESTS],
  },
  {
    name: 'a change needs no token of the session',
    file: CALLS,
    text: "if (isRead || request.header('x-csrf-token') === csrfToken(cookie ?? '', ports)) return admitted",
    replacement: "if (isRead || csrfToken(cookie ?? '', ports) !== '') return admitted",
    tests: [SIGN_INS],
  },
  {
    name: 'an operator may do what only owners may',
    file: 'src/http/admin/routes.ts',
    text: "return { scopes: ['all'], roles: ['owner'], handler }",
    replacement: "return { scopes: ['all'], roles: ['owner', 'operator'], handler }",
    tests: [ROLES],
  },
  {
    name: 'signing in keeps the earlier session of the browser',
    file: SIGN_IN,
    text: 'replaces: cookie === undefined ? undefined : sha256(cookie),',
    replacement: 'replaces: undefined,',
    tests: ['test/scenarios/console/console-own-sign-in.test.ts'],
  },
  {
    name: 'each address of an IPv6 network has tries to sign in of its own',
    file: 'src/gateway/admin/users/sign-in-pace.ts',
    text: 'const network = clientNetwork(address)',
    replacement: 'const network = address',
    tests: ['src/gateway/admin/users/sign-in-pace.test.ts'],
  },
  {
    name: 'a found session of a user without a password changes one-time codes at any time',
    file: 'src/gateway/admin/users/own-sign-in.ts',
    text: 'if (ports.clock.now() < session.createdAtMs + SIGN_IN_FRESH_MS) return',
    replacement: 'if (ports.clock.now() >= session.createdAtMs) return',
    tests: ['test/scenarios/console/console-open-id.test.ts'],
  },
  {
    name: 'the last owner who can sign in may go if another was invited or disabled',
    file: 'src/stores/books/access/users.ts',
    text: 'if (others.map(userFrom).some(isActiveOwner)) return',
    replacement: 'if (others.length > 0) return',
    tests: [ROLES],
  },
]
