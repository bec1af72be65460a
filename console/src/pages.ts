/** The table of all pages: the path below the console, who sees it, and its entry in the navigation. */
import type { Role } from './api/console-routes.ts'
import type { IconName } from './parts/icon.tsx'
import { navigationTexts } from './texts.ts'

export type Page = {
  /** Below the console. `:name` is a parameter. */
  readonly path: string
  /** Who sees the page. The default is everyone. The gateway checks each call itself. */
  readonly roles?: readonly Role[]
  /** Without it, other pages link to the page. */
  readonly navigation?: Entry
}

export type Entry = {
  readonly group: Group
  readonly label: string
  readonly icon: IconName
  /** The pages behind this entry, if it has several. The first one is the page of the entry itself. */
  readonly tabs?: readonly Tab[]
}

export type Tab = { readonly href: string; readonly label: string }

export const groups = ['business', 'gateway', 'team'] as const
export type Group = (typeof groups)[number]

const navigation = navigationTexts
const operators: readonly Role[] = ['owner', 'operator']
const owners: readonly Role[] = ['owner']

/** What customers can call and what they pay, in three views. */
export const catalogTabs: readonly Tab[] = [
  { href: 'models', label: navigation.modelsTab },
  { href: 'price-lists', label: navigation.priceLists },
  { href: 'catalog', label: navigation.catalog },
  { href: 'catalog/history', label: navigation.catalogHistory },
]

/** What the gateway says about itself. */
export const systemTabs: readonly Tab[] = [
  { href: 'doctor', label: navigation.doctor },
  { href: 'nodes', label: navigation.nodes },
  { href: 'settings', label: navigation.settings },
]

const table = [
  { path: 'overview', navigation: { group: 'business', label: navigation.overview, icon: 'home' } },
  { path: 'accounts', navigation: { group: 'business', label: navigation.accounts, icon: 'card' } },
  { path: 'accounts/:account/:tab?' },
  { path: 'projects/:project' },
  { path: 'keys', navigation: { group: 'business', label: navigation.keys, icon: 'key' } },
  { path: 'keys/:key' },
  { path: 'requests', navigation: { group: 'business', label: navigation.requests, icon: 'activity' } },
  { path: 'requests/:request' },
  { path: 'usage', navigation: { group: 'business', label: navigation.usage, icon: 'money' } },
  { path: 'usage/losses' },
  { path: 'jobs', navigation: { group: 'business', label: navigation.jobs, icon: 'film' } },
  { path: 'jobs/:job' },
  { path: 'margins', navigation: { group: 'business', label: navigation.margins, icon: 'chart' } },
  {
    path: 'models',
    navigation: { group: 'business', label: navigation.models, icon: 'tag', tabs: catalogTabs },
  },
  { path: 'models/new', roles: operators },
  { path: 'models/:model' },
  { path: 'price-lists' },
  { path: 'price-lists/new', roles: operators },
  { path: 'price-lists/:list' },
  { path: 'catalog' },
  { path: 'catalog/history' },
  { path: 'catalog/changes' },
  { path: 'set-up', roles: operators },
  { path: 'providers', navigation: { group: 'gateway', label: navigation.providers, icon: 'plug' } },
  { path: 'providers/new', roles: owners },
  { path: 'providers/:provider' },
  {
    path: 'playground',
    roles: operators,
    navigation: { group: 'gateway', label: navigation.playground, icon: 'play' },
  },
  { path: 'books', navigation: { group: 'gateway', label: navigation.books, icon: 'disk' } },
  { path: 'webhooks', navigation: { group: 'gateway', label: navigation.webhooks, icon: 'webhook' } },
  { path: 'webhooks/:webhook' },
  { path: 'mail', navigation: { group: 'gateway', label: navigation.mail, icon: 'mail' } },
  { path: 'audit', navigation: { group: 'gateway', label: navigation.audit, icon: 'audit' } },
  {
    path: 'doctor',
    navigation: { group: 'gateway', label: navigation.system, icon: 'gear', tabs: systemTabs },
  },
  { path: 'nodes' },
  { path: 'settings' },
  {
    path: 'users',
    roles: owners,
    navigation: { group: 'team', label: navigation.users, icon: 'users' },
  },
  { path: 'users/:user', roles: owners },
  {
    path: 'tokens',
    roles: owners,
    navigation: { group: 'team', label: navigation.tokens, icon: 'shield' },
  },
  { path: 'profile' },
] as const satisfies readonly Page[]

export type PagePath = (typeof table)[number]['path']

export const pages: readonly (Page & { readonly path: PagePath })[] = table

/** The page of `<console>/` itself: the first in the navigation that the role sees. */
export function firstPage(role: Role): Page | undefined {
  return pages.find(page => page.navigation !== undefined && isSeenBy(page, role))
}

export function isSeenBy({ roles }: Page, role: Role): boolean {
  return roles === undefined || roles.includes(role)
}
