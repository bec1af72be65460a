/** All pages: the path below the console, the chunk with the page, and the entry in the navigation. */
import type { ComponentType } from 'preact'
import type { Role } from './api/console-routes.ts'
import type { IconName } from './parts/icon.tsx'
import { texts } from './texts.ts'

type Load = () => Promise<ComponentType>

export type Page = {
  /** Below the console. `:name` is a parameter. */
  readonly path: string
  readonly load: Load
  /** Who sees the page. The default is everyone. The gateway checks each call itself. */
  readonly roles?: readonly Role[]
  /** Without it, other pages link to the page. */
  readonly navigation?: { readonly group: Group; readonly label: string; readonly icon: IconName }
}

export const groups = ['business', 'gateway', 'team'] as const
export type Group = (typeof groups)[number]

const { navigation } = texts

export const pages: readonly Page[] = [
  {
    path: 'overview',
    load: () => import('./pages/overview/overview.tsx').then(page => page.Overview),
    navigation: { group: 'business', label: navigation.overview, icon: 'home' },
  },
  {
    path: 'accounts',
    load: () => import('./pages/accounts/accounts.tsx').then(page => page.Accounts),
    navigation: { group: 'business', label: navigation.accounts, icon: 'card' },
  },
  {
    path: 'accounts/:account/:tab?',
    load: () => import('./pages/accounts/account.tsx').then(page => page.AccountPage),
  },
  {
    path: 'projects/:project',
    load: () => import('./pages/projects/project.tsx').then(page => page.ProjectPage),
  },
  {
    path: 'keys',
    load: () => import('./pages/keys/keys.tsx').then(page => page.Keys),
    navigation: { group: 'business', label: navigation.keys, icon: 'key' },
  },
  { path: 'keys/:key', load: () => import('./pages/keys/key.tsx').then(page => page.KeyPage) },
  {
    path: 'margins',
    load: () => import('./pages/margins/margins.tsx').then(page => page.Margins),
    navigation: { group: 'business', label: navigation.margins, icon: 'money' },
  },
  {
    path: 'playground',
    load: () => import('./pages/playground/playground.tsx').then(page => page.Playground),
    roles: ['owner', 'operator'],
    navigation: { group: 'gateway', label: navigation.playground, icon: 'play' },
  },
  {
    path: 'books',
    load: () => import('./pages/books/books.tsx').then(page => page.Books),
    navigation: { group: 'gateway', label: navigation.books, icon: 'disk' },
  },
  {
    path: 'doctor',
    load: () => import('./pages/doctor/doctor.tsx').then(page => page.Doctor),
    navigation: { group: 'gateway', label: navigation.doctor, icon: 'activity' },
  },
  {
    path: 'nodes',
    load: () => import('./pages/nodes/nodes.tsx').then(page => page.Nodes),
    navigation: { group: 'gateway', label: navigation.nodes, icon: 'nodes' },
  },
  {
    path: 'settings',
    load: () => import('./pages/settings/settings.tsx').then(page => page.Settings),
    navigation: { group: 'gateway', label: navigation.settings, icon: 'gear' },
  },
  {
    path: 'tokens',
    load: () => import('./pages/tokens/tokens.tsx').then(page => page.Tokens),
    roles: ['owner'],
    navigation: { group: 'team', label: navigation.tokens, icon: 'shield' },
  },
  {
    path: 'requests',
    load: () => import('./pages/requests/requests.tsx').then(page => page.Requests),
    navigation: { group: 'business', label: navigation.requests, icon: 'activity' },
  },
  {
    path: 'requests/:request',
    load: () => import('./pages/requests/request.tsx').then(page => page.RequestPageOf),
  },
  {
    path: 'usage',
    load: () => import('./pages/usage/usage.tsx').then(page => page.Usage),
    navigation: { group: 'business', label: navigation.usage, icon: 'money' },
  },
  {
    path: 'usage/losses',
    load: () => import('./pages/usage/losses.tsx').then(page => page.Losses),
  },
  {
    path: 'jobs',
    load: () => import('./pages/jobs/jobs.tsx').then(page => page.Jobs),
    navigation: { group: 'business', label: navigation.jobs, icon: 'film' },
  },
  {
    path: 'jobs/:job',
    load: () => import('./pages/jobs/job.tsx').then(page => page.JobPage),
  },
  {
    path: 'webhooks',
    load: () => import('./pages/webhooks/webhooks.tsx').then(page => page.Webhooks),
    navigation: { group: 'gateway', label: navigation.webhooks, icon: 'webhook' },
  },
  {
    path: 'webhooks/:webhook',
    load: () => import('./pages/webhooks/webhook.tsx').then(page => page.WebhookPage),
  },
  {
    path: 'mail',
    load: () => import('./pages/mail/mail.tsx').then(page => page.Mail),
    navigation: { group: 'gateway', label: navigation.mail, icon: 'mail' },
  },
  {
    path: 'audit',
    load: () => import('./pages/audit/audit.tsx').then(page => page.Audit),
    navigation: { group: 'gateway', label: navigation.audit, icon: 'audit' },
  },
  {
    path: 'users',
    load: () => import('./pages/users/users.tsx').then(page => page.Users),
    roles: ['owner'],
    navigation: { group: 'team', label: navigation.users, icon: 'users' },
  },
  {
    path: 'users/:user',
    load: () => import('./pages/users/user.tsx').then(page => page.UserPage),
    roles: ['owner'],
  },
  {
    path: 'profile',
    load: () => import('./pages/profile/profile.tsx').then(page => page.Profile),
    navigation: { group: 'team', label: navigation.profile, icon: 'person' },
  },
]

/** The page of `<console>/` itself: the first in the navigation that the role sees. */
export function firstPage(role: Role): Page | undefined {
  return pages.find(page => page.navigation !== undefined && isSeenBy(page, role))
}

export function isSeenBy({ roles }: Page, role: Role): boolean {
  return roles === undefined || roles.includes(role)
}
