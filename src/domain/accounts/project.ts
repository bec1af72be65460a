import type { TermsPatch } from '../limits/scope.ts'

/** A group of keys of an account, with limits and budgets of its own. A key never changes its project. */
export type Project = {
  /** The store's integer key. Never shown to clients. */
  readonly id: number
  /** `proj_…` */
  readonly publicId: string
  readonly accountId: number
  /** Unique among the projects of the account, so that commands can use it. */
  readonly name: string
  readonly createdAtMs: number
  /** Null unless the operator closed it: its keys are then refused. */
  readonly closedAtMs: number | null
}

/** The parts of a project that an operator can change. A part that is left out stays as it is. */
export type ProjectPatch = {
  readonly name?: string
  /** Nothing opens a closed project again. Its books stay, and running work is settled. */
  readonly closed?: true
  /** What its keys may use together. */
  readonly limits?: TermsPatch
}

/** The audit action of the switch of a project. */
export type ProjectSwitch = 'project.close'

/** The audit lines that name a project. Their detail has the name. */
export const projectNaming = ['project.create', 'project.rename'] as const
export type ProjectNaming = (typeof projectNaming)[number]

/** The name and the state of a project after a patch, and the action of each part that it changes. */
export function patchProject(
  { name, closedAtMs }: Pick<Project, 'name' | 'closedAtMs'>,
  { name: newName = name, closed }: ProjectPatch,
  atMs: number,
): Pick<Project, 'name' | 'closedAtMs'> & { readonly actions: readonly (ProjectSwitch | ProjectNaming)[] } {
  const isClosing = closed === true && closedAtMs === null
  return {
    name: newName,
    closedAtMs: isClosing ? atMs : closedAtMs,
    actions: [
      ...(newName === name ? [] : (['project.rename'] as const)),
      ...(isClosing ? (['project.close'] as const) : []),
    ],
  }
}

/** The detail of an audit line that names a project. */
export function projectNameDetail(name: string): string {
  return JSON.stringify({ name })
}

/** The name in the detail of an audit line; undefined if it has none. */
export function projectNameIn(detail: string | null): string | undefined {
  try {
    const { name } = JSON.parse(detail ?? '') as { readonly name?: unknown }
    return typeof name === 'string' ? name : undefined
  } catch {
    return undefined
  }
}
