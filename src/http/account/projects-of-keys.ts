import type { ApiKey } from '../../domain/accounts/api-key.ts'
import type { Project } from '../../domain/accounts/project.ts'
import type { ApiKeys } from '../../gateway/ports/access/api-keys.ts'
import type { Projects } from '../../gateway/ports/access/projects.ts'
import { wrongParameter } from '../list-query.ts'

/**
 * A charge names its key, and the key names its project, so that charges are found by project without a column for it.
 */
export type ProjectPorts = {
  readonly apiKeys: Pick<ApiKeys, 'list'>
  readonly projects: Pick<Projects, 'list'>
}

/** The public ids of the projects of keys, by the numbers of the keys. A key without a project is not in it. */
export function projectsOfKeys(
  apiKeys: readonly ApiKey[],
  projects: readonly Project[],
): ReadonlyMap<number, string> {
  const publicIds = new Map(projects.map(({ id, publicId }) => [id, publicId]))
  const found = new Map<number, string>()
  for (const { id, projectId } of apiKeys) {
    const publicId = projectId === undefined ? undefined : publicIds.get(projectId)
    if (publicId !== undefined) found.set(id, publicId)
  }
  return found
}

/**
 * The numbers of the keys of the project that `?project=` names by its id; undefined without it. Throws `invalid_field`
 * if the account has no such project.
 */
export async function keysOfProject(
  query: URLSearchParams,
  accountId: number,
  { apiKeys, projects }: ProjectPorts,
): Promise<ReadonlySet<number> | undefined> {
  const asked = query.get('project')
  if (asked === null) return undefined
  const project = (await projects.list(accountId)).find(({ publicId }) => publicId === asked)
  if (project === undefined)
    throw wrongParameter('project', 'must be the id of a project of the account, such as "proj_…"')
  const keys = await apiKeys.list(accountId)
  return new Set(keys.filter(({ projectId }) => projectId === project.id).map(({ id }) => id))
}
