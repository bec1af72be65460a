import type { Project, ProjectPatch } from '../../domain/accounts/project.ts'
import type { TermsPatch } from '../../domain/limits/scope.ts'
import type { Editor } from './accounts.ts'

/** The projects of accounts. `ApiKeys.create` creates a key in one. */
export interface Projects {
  /** Throws `already_exists` if the account has a project of that name, open or closed. */
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
   * Changes a project. The rules are those of `Accounts.updateAccount`. Throws `already_exists` for a name that another
   * project of the account has.
   */
  update(publicId: string, patch: ProjectPatch, by: Editor): Promise<Project>
}
