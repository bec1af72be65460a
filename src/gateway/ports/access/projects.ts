import type { Project, ProjectPatch } from '../../../domain/accounts/project.ts'
import type { TermsPatch } from '../../../domain/limits/scope.ts'
import type { Editor } from './accounts.ts'
import type { ChargeSums } from '../ledger/ledger-reports.ts'

/** What the sums of a report are grouped by. */
export const usageGrains = ['day', 'model', 'key'] as const
export type UsageGrain = (typeof usageGrains)[number]

export type ProjectUsage = ChargeSums & {
  /** A day, the name of a model, or the public id of a key. */
  readonly group: number | string
}

/** The projects of accounts. `ApiKeys.create` creates a key in one. */
export interface Projects {
  /**
   * Throws `already_exists` if the account has a project of that name, open or closed, and `already_closed` for a
   * closed account.
   */
  create(request: {
    readonly publicId: string
    readonly accountId: number
    readonly name: string
    readonly limits?: TermsPatch | undefined
    readonly by: Editor
  }): Promise<Project>

  find(publicId: string): Promise<Project | undefined>

  /** All projects of an account in the order of their creation, including closed ones. */
  list(accountId: number): Promise<readonly Project[]>

  /**
   * The sums of the charges of the keys of a project, in one group for each day, model or key, in this order. Days are
   * in UTC, as numbers since 1970, and both ends are included. Throws `unavailable` while an upgrade adds up earlier
   * charges.
   */
  usage(
    project: Project,
    of: { readonly by: UsageGrain; readonly firstDay: number; readonly lastDay: number },
  ): Promise<readonly ProjectUsage[]>

  /**
   * Changes a project. The rules are those of `Accounts.updateAccount`. Throws `already_exists` for a name that another
   * project of the account has.
   */
  update(publicId: string, patch: ProjectPatch, by: Editor): Promise<Project>
}
