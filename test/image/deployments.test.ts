import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'bun:test'
import { parse, parseAllDocuments } from 'yaml'
import manifest from '../../package.json' with { type: 'json' }
import { readConfig } from '../../src/config/config.ts'
import { operatingPaths } from '../../src/http/description/operating.ts'
import { parseDockerfile } from './dockerfile.ts'
import { schemaProblems, type Resource } from './kubernetes-schema.ts'

const root = resolve(import.meta.dirname, '../..')
const text = (file: string) => readFileSync(join(root, file), 'utf8')
const stage = parseDockerfile(text('Dockerfile')).at(-1)!
const instruction = (name: string) => stage.instructions.findLast(one => one.name === name)!.text
const IMAGE = `tollgate:${manifest.version}`
const PORT = Number(instruction('EXPOSE'))
/** For the last writes after the drain. */
const LAST_WRITES_S = 5

const folder = mkdtempSync(join(tmpdir(), 'tollgate-secrets-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Runs the command that writes secrets. */
async function writeSecrets(file: string): Promise<number> {
  const script = join(root, 'deploy/nodes/write-secrets.sh')
  return Bun.spawn(['sh', script, file], { stdout: 'ignore', stderr: 'ignore' }).exited
}

/** The variables of an environment file. */
async function newSecrets(): Promise<Readonly<Record<string, string>>> {
  const file = join(folder, crypto.randomUUID())
  await writeSecrets(file)
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return Object.fromEntries(lines.map(line => [line.replace(/=.*/, ''), line.replace(/^\w+=/, '')]))
}

type Service = {
  readonly image: string
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly ports?: readonly string[]
  readonly entrypoint?: readonly string[]
  readonly restart?: string
  readonly healthcheck?: object
  readonly stop_grace_period?: string
  readonly depends_on?: Readonly<Record<string, object>>
}

describe('the compose file with two gateways', () => {
  const { services } = parse(text('deploy/nodes/compose.yaml'), { merge: true }) as {
    readonly services: Readonly<Record<string, Service>>
  }
  const gateways = ['gateway-1', 'gateway-2'].map(name => services[name]!)

  test('the gateways have settings that a gateway accepts, with the secrets of the documented command', async () => {
    const secrets = await newSecrets()
    const used = new Set<string>()
    const filled = (value: string) =>
      value.replaceAll(/\$\{(\w+):[?-]\}/g, (_, name: string) => {
        used.add(name)
        return secrets[name] ?? ''
      })

    const configs = gateways.map(({ environment = {} }) =>
      readConfig(
        Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, filled(value)])),
      ),
    )
    for (const { environment = {} } of Object.values(services)) Object.values(environment).forEach(filled)

    expect(configs.map(({ nodeName }) => nodeName)).toEqual(['gateway-1', 'gateway-2'])
    expect(configs[0]).toMatchObject({
      database: {
        host: 'postgres',
        user: 'tollgate',
        database: 'tollgate',
        password: secrets['POSTGRES_PASSWORD'],
      },
      databaseOwner: { user: services['postgres']!.environment!['POSTGRES_USER']! },
      redis: { host: 'valkey' },
      s3Bucket: services['bucket']!.entrypoint!.at(-1)!.replace('/data/', ''),
    })
    expect({ ...configs[1]!, nodeName: undefined }).toEqual({ ...configs[0]!, nodeName: undefined })
    used.delete('MAIN_API_KEY')
    expect([...used].sort()).toEqual(Object.keys(secrets).sort())
  })

  test('the secrets are new each time, only for their owner, and never replaced', async () => {
    const [one, other] = [await newSecrets(), await newSecrets()]
    const file = join(folder, 'secrets.env')

    const codes = [await writeSecrets(file), await writeSecrets(file)]

    expect(codes[0]).toBe(0)
    expect(codes[1]).not.toBe(0)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(Object.keys(one).filter(name => one[name] === other[name])).toEqual([])
    expect(text('.gitignore')).toContain('\nsecrets.env\n')
  })

  test('the gateways run the image of this version without rights, on data of their own, and have time to drain', () => {
    const { drainMs } = readConfig({})
    for (const gateway of gateways) {
      expect(gateway).toMatchObject({
        image: IMAGE,
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      })
      expect(Number.parseInt(gateway.stop_grace_period!, 10)).toBeGreaterThanOrEqual(
        drainMs / 1000 + LAST_WRITES_S,
      )
    }
    expect(gateways.map(({ volumes }) => volumes)).toEqual([
      [`gateway-1:${instruction('VOLUME')}`],
      [`gateway-2:${instruction('VOLUME')}`],
    ])
  })

  test('every service has a health check, a version and services that exist, and only the balancer can be reached', () => {
    const names = Object.keys(services)
    const others = Object.entries(services).filter(([name]) => !name.startsWith('gateway-'))
    const running = others.filter(([, { restart }]) => restart !== undefined)

    expect(running.map(([name]) => name)).toEqual(['balancer', 'postgres', 'valkey', 's3'])
    expect(running.filter(([, { healthcheck }]) => healthcheck === undefined)).toEqual([])
    for (const [, { image }] of others) expect(image).toMatch(/^[\w/]+:v?\d+\.\d+[\w.-]*$/)
    for (const { depends_on: needed = {} } of Object.values(services))
      expect(names).toEqual(expect.arrayContaining(Object.keys(needed)))
    expect(names.filter(name => services[name]!.ports !== undefined)).toEqual(['balancer'])
    expect(services['balancer']!.ports).toEqual([`127.0.0.1:${PORT}:${PORT}`])
  })
})

type Probe = { readonly httpGet: { readonly path: string; readonly port: string } }
type PodSpec = {
  readonly terminationGracePeriodSeconds: number
  readonly automountServiceAccountToken: boolean
  readonly securityContext: object
  readonly containers: readonly {
    readonly image: string
    readonly ports: readonly object[]
    readonly env: readonly { readonly name: string }[]
    readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } }
    readonly startupProbe: Probe
    readonly readinessProbe: Probe
    readonly livenessProbe: Probe
    readonly resources: object
    readonly securityContext: object
    readonly volumeMounts: readonly { readonly mountPath: string }[]
  }[]
}

describe('the Kubernetes manifest', () => {
  const resources = parseAllDocuments(text('deploy/kubernetes.yaml')).map(document => {
    expect(document.errors).toEqual([])
    return document.toJS() as Resource
  })
  const resource = (kind: string): unknown => resources.find(one => one.kind === kind)
  const { spec } = resource('Deployment') as {
    spec: { replicas: number; selector: object; template: { spec: PodSpec } }
  }
  const pod = spec.template.spec
  const container = pod.containers[0]!

  test('the manifest keeps to the schema of Kubernetes, which finds what is mistyped, of another type or missing', async () => {
    const changed = (from: string, to: string) => {
      const whole = JSON.stringify(resource('Deployment'))
      expect(whole).toContain(from)
      return JSON.parse(whole.replace(from, to)) as Resource
    }
    const mistakes = [
      changed('"readinessProbe"', '"readynessProbe"'),
      changed('"replicas":2', '"replicas":"2"'),
      changed('"selector"', '"selectors"'),
      changed('"fieldPath"', '"path"'),
    ]

    const problems = await schemaProblems([...resources, ...mistakes])

    expect(problems.slice(0, resources.length).flat()).toEqual([])
    expect(problems.slice(resources.length).map(({ length }) => length)).toEqual([1, 1, 1, 1])
  })

  test('the manifest has nothing that needs rights in the whole cluster', () => {
    expect(resources.map(({ kind }) => kind)).toEqual([
      'ConfigMap',
      'Secret',
      'Deployment',
      'Service',
      'PodDisruptionBudget',
    ])
    expect(resources.filter(({ metadata }) => 'namespace' in metadata)).toEqual([])
    expect(pod.automountServiceAccountToken).toBe(false)
  })

  test('the pods have settings that a gateway accepts when the examples of secrets are replaced', async () => {
    const { TOLLGATE_SECRET_KEY, TOLLGATE_ADMIN_KEY } = await newSecrets()
    const { data } = resource('ConfigMap') as { data: Record<string, string> }
    const { stringData } = resource('Secret') as { stringData: Record<string, string> }
    const examples = Object.entries(stringData)

    const environment = { ...data, ...stringData, TOLLGATE_SECRET_KEY, TOLLGATE_ADMIN_KEY }
    const config = readConfig(environment)

    expect(() => readConfig({ ...data, ...stringData })).toThrow('TOLLGATE_SECRET_KEY')
    expect(examples.filter(([, value]) => !value.includes('REPLACE'))).toEqual([])
    expect(container.env.map(({ name }) => name)).toEqual(['TOLLGATE_NODE_NAME'])
    expect(config.database).toMatchObject({ tls: 'verify-full' })
    expect(config.s3Bucket).toBe('tollgate')
  })

  test('the pods run the image of this version as its user, with nothing that can be written but two folders', () => {
    expect(container.image).toBe(IMAGE)
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: Number(instruction('USER')) })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toEqual([instruction('VOLUME'), '/tmp'])
    expect(container.resources).toMatchObject({
      requests: { memory: '1536Mi' },
      limits: { memory: '1536Mi' },
    })
  })

  test('the probes and the service ask routes and the port of the gateway', () => {
    const { startupProbe, readinessProbe, livenessProbe } = container
    const probes = [startupProbe, readinessProbe, livenessProbe].map(({ httpGet }) => httpGet)

    expect(container.ports).toEqual([{ name: 'http', containerPort: PORT }])
    expect(probes.map(({ port }) => port)).toEqual(['http', 'http', 'http'])
    expect(Object.keys(operatingPaths)).toEqual(expect.arrayContaining(probes.map(({ path }) => path)))
    expect([readinessProbe.httpGet.path, livenessProbe.httpGet.path]).toEqual([
      '/health/ready',
      '/health/live',
    ])
    expect((resource('Service') as { spec: object }).spec).toMatchObject({ ports: [{ targetPort: 'http' }] })
  })

  test('a pod that stops first gets no more requests, and then has time for its drain', () => {
    const [command, seconds] = container.lifecycle.preStop.exec.command
    const { drainMs } = readConfig({})

    expect(command).toBe('sleep')
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
      Number(seconds) + drainMs / 1000 + LAST_WRITES_S,
    )
  })

  test('an update or a disruption leaves a gateway running', () => {
    const { spec: budget } = resource('PodDisruptionBudget') as {
      spec: { maxUnavailable: number; selector: object }
    }

    expect(spec).toMatchObject({ strategy: { rollingUpdate: { maxUnavailable: 0 } } })
    expect(budget.maxUnavailable).toBeLessThan(spec.replicas)
    expect(budget.selector).toEqual(spec.selector)
  })
})
