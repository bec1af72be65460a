import { usd } from '../../src/domain/money.ts'
import { anAudit } from '../support/ledger-builders.ts'
import type { Authenticated } from '../../src/gateway/ports/access/api-keys.ts'
import type { Cluster } from './cluster.ts'
import { isSecretRefusal } from './key-secrets.ts'
import { ConnectionLost, type SimulatedNode } from './node.ts'
import { aProvider, models } from './template.ts'
import { isInjected, type World } from './world.ts'

const edits = ['price', 'price', 'off', 'on', 'delete', 'restore', 'other provider'] as const

/** An operator who edits prices, and switches and deletes models and providers, while jobs run. */
export async function runOperator({
  world,
  cluster,
}: {
  readonly world: World
  readonly cluster: Cluster
}): Promise<void> {
  const random = world.random.fork()
  for (let left = world.plan.operatorEdits; left > 0; left -= 1) {
    await new Promise<void>(resolve => {
      world.scheduler.after(cluster.outside, random.magnitude(1000, world.plan.spanMs), resolve)
    })
    const [node] = cluster.nodes
    if (node === undefined) continue
    const edit = random.pick(edits)
    world.faults.count(`catalog edit: ${edit}`)
    const model = random.pick(models)
    const price = usd(random.pick(['0.04', '0.123456789', '0.000000001', '0.5']))
    await attempt(node, () => apply(edit, { node, world, model: priced(model, price, world) }))
  }
}

/** An operator who rotates the keys of customers, and ends their secrets, while requests come. */
export async function runRotations(
  callers: readonly Authenticated[],
  { world, cluster }: { readonly world: World; readonly cluster: Cluster },
): Promise<void> {
  const random = world.random.fork()
  for (let left = world.plan.rotations; left > 0; left -= 1) {
    await world.scheduler.pause(cluster.outside, random.magnitude(1000, world.plan.spanMs))
    const { nodes } = cluster
    if (nodes.length === 0) continue
    const node = random.pick(nodes)
    const caller = random.pick(callers)
    const edit = random.pick(['rotate', 'rotate', 'revoke'] as const)
    world.faults.count(`secret of a key: ${edit}`)
    await attempt(node, () => world.secrets[edit](caller, node, random))
  }
}

/** Puts every row back, so that running jobs can end. */
export async function restoreCatalog({
  world,
  cluster,
}: {
  readonly world: World
  readonly cluster: Cluster
}): Promise<void> {
  const [node] = cluster.nodes
  if (node === undefined) throw new Error('No node runs.')
  for (const id of world.upstreams.keys()) await node.catalog.putProvider(aProvider(id), anAudit())
}

type Model = (typeof models)[number]

async function apply(
  edit: (typeof edits)[number],
  { node, world, model }: { readonly node: SimulatedNode; readonly world: World; readonly model: Model },
): Promise<unknown> {
  const { catalog } = node
  const [upstream] = model.upstreams
  const provider = upstream?.provider ?? ''
  switch (edit) {
    case 'price':
    case 'on':
      return catalog.putModel(model, anAudit())
    case 'off':
      return catalog.putModel({ ...model, enabled: false }, anAudit())
    case 'other provider': {
      const other = [...world.upstreams.keys()].find(id => id !== provider) ?? provider
      return catalog.putModel(
        { ...model, upstreams: [{ provider: other, model: 'v1', order: 1, weight: 1 }] },
        anAudit(),
      )
    }
    case 'delete': {
      for (const { id, upstreams } of catalog.current().models.values())
        if (upstreams.some(({ provider: used }) => used === provider))
          await catalog.deleteModel(id, anAudit())
      return catalog.deleteProvider(provider, anAudit())
    }
    case 'restore':
      await catalog.putProvider(aProvider(provider), anAudit())
      return catalog.putModel(model, anAudit())
  }
}

function priced(model: Model, price: ReturnType<typeof usd>, { prices }: World): Model {
  const known = prices.get(model.id) ?? new Set()
  prices.set(model.id, known.add(price))
  return model.kind === 'image'
    ? { ...model, pricing: { perImage: price } }
    : { ...model, pricing: { perSecond: price } }
}

/** An edit can fail because of the node, the disk, or another row. */
async function attempt(node: SimulatedNode, work: () => Promise<unknown>): Promise<void> {
  await node.serve(work).catch((error: unknown) => {
    const isRefused = error instanceof Error && 'code' in error && error.code === 'invalid_field'
    if (error instanceof ConnectionLost || isRefused || isSecretRefusal(error) || isInjected(error)) return
    throw error
  })
}
