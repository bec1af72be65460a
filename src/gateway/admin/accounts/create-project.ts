import type { Account } from '../../../domain/accounts/account.ts'
import type { Project } from '../../../domain/accounts/project.ts'
import { GatewayError } from '../../../domain/errors.ts'
import { formatId, type Id } from '../../../domain/ids.ts'
import type { TermsPatch } from '../../../domain/limits/scope.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Projects } from '../../ports/access/projects.ts'
import { checkedName } from './create-account.ts'
import type { Actor } from '../operator.ts'

/**
 * Creates a project of an account, without keys. Throws `invalid_field` for an invalid name and `already_exists` for a
 * name that another project of the account has.
 */
export async function createProject(
  request: {
    readonly account: Account
    readonly name: string
    readonly limits?: TermsPatch
    readonly actor: Actor
  },
  ports: { readonly projects: Projects; readonly newId: () => Id; readonly clock: Clock },
): Promise<Project> {
  const { account, limits, actor } = request
  return ports.projects.create({
    publicId: formatId('proj', ports.newId()),
    accountId: account.id,
    name: checkedProjectName(request.name),
    limits,
    by: { actor, atMs: ports.clock.now() },
  })
}

/** The name of a project without surrounding spaces. Throws `invalid_field` if it cannot be listed or typed. */
export function checkedProjectName(text: string): string {
  const name = checkedName(text)
  // A key is created in a project by its name or its id.
  if (name.startsWith('proj_'))
    throw new GatewayError('invalid_field', '"name" must not begin with "proj_", because project ids do.', {
      param: 'name',
    })
  return name
}
