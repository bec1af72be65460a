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
