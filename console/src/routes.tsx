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
