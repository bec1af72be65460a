import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { debianProgram } from './support/debian-program.ts'
import { ADMIN_KEY, startTestGateway } from './support/gateway.ts'
import { root } from './support/snippets.ts'

const promtool = await debianProgram('promtool')
const deploy = (file: string) => join(root, 'deploy', file)
const text = (file: string) => readFileSync(deploy(file), 'utf8')

type Rule = {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly description: string }
}
type Panel = { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }

const rules = (
  parse(text('tollgate-alerts.yml')) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] }
).groups.flatMap(group => group.rules)
const { panels } = JSON.parse(text('grafana-dashboard.json')) as { readonly panels: readonly Panel[] }
/** The queries of the dashboard, with an interval in place of Grafana's variable. */
const queries = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ name: title, expr: expr.replaceAll('$__rate_interval', '5m') })),
)

let folder: string
/** The lines of `GET /metrics`. */
let lines: readonly string[]

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-monitoring-'))
  const gateway = await startTestGateway()
  const response = await fetch(`${gateway.url}/metrics`, {
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
  })
  lines = (await response.text()).split('\n')
  await gateway.stop()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What promtool says about a file, and whether it accepts it. */
async function check(...args: string[]) {
  const child = Bun.spawn([promtool.path, ...args], {
    cwd: folder,
    env: { ...process.env, ...promtool.environment },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, said: out + err }
}

/** The text of a file of `folder`, written for promtool. */
function written(name: string, content: object): string {
  writeFileSync(join(folder, name), JSON.stringify(content))
  return name
}

/** The names of the metrics that a PromQL expression reads, without the endings of a histogram. */
function metricsIn(expr: string): string[] {
  return [...expr.matchAll(/\b(?:tollgate|process)_[a-z0-9_]+/g)].map(([name]) =>
    name.replace(/_(?:bucket|sum|count)$/, ''),
  )
}

test('Prometheus accepts the scrape configuration in deploy/', async () => {
  expect(await check('check', 'config', '--syntax-only', deploy('prometheus.yml'))).toMatchObject({ code: 0 })
})

test('Prometheus accepts the alert rules in deploy/, and each has a severity and says what to do', async () => {
  expect(await check('check', 'rules', deploy('tollgate-alerts.yml'))).toMatchObject({ code: 0 })
  expect(rules.length).toBeGreaterThan(15)
  for (const { labels, annotations } of rules) {
    expect(['warning', 'critical']).toContain(labels.severity)
    expect(annotations.summary).toEndWith('.')
    expect(annotations.description).toEndWith('.')
  }
})

test('Prometheus accepts the queries of the dashboard in deploy/', async () => {
  const recorded = queries.map(({ expr }, index) => ({ record: `panel_${index}`, expr }))
  const file = written('queries.json', { groups: [{ name: 'dashboard', rules: recorded }] })

  expect(queries.length).toBeGreaterThan(25)
  expect(await check('check', 'rules', file)).toMatchObject({ code: 0 })
})

test('the alert rules and the dashboard name only metrics that the gateway has', () => {
  const known = new Set(lines.flatMap(line => /^# TYPE (\S+)/.exec(line)?.[1] ?? []))
  const named = [...rules, ...queries].flatMap(({ expr }) => metricsIn(expr))

  expect(named.length).toBeGreaterThan(40)
  expect(named.filter(name => !known.has(name))).toEqual([])
})

test('an alert is raised for the first event of a counter, and for stopped books', async () => {
  const alert = (name: string, labels: object) => {
    const { annotations, labels: own } = rules.find(rule => rule.alert === name)!
    const filled = JSON.stringify(annotations).replace('{{ $labels.provider }}', 'main')
    return {
      alertname: name,
      eval_time: '12m',
      exp_alerts: [{ exp_labels: { ...own, ...labels }, exp_annotations: JSON.parse(filled) as object }],
    }
  }
  const failure = 'tollgate_upstream_failures_total{provider="main",reason="not_configured"}'
  const file = written('cases.json', {
    rule_files: [deploy('tollgate-alerts.yml')],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: [
          { series: failure, values: '_x9 1x5' },
          { series: 'tollgate_books_stopped', values: '0x9 1x5' },
        ],
        alert_rule_test: [
          alert('TollgateProviderNotConfigured', { provider: 'main', reason: 'not_configured' }),
          alert('TollgateBooksStopped', {}),
          { alertname: 'TollgateLedgerProblems', eval_time: '12m', exp_alerts: [] },
        ],
      },
    ],
  })

  expect(await check('test', 'rules', file)).toMatchObject({
    code: 0,
    said: expect.stringContaining('SUCCESS'),
  })
})

test('each metric has a help text and is in docs/monitoring.md', () => {
  const described = readFileSync(join(root, 'docs/monitoring.md'), 'utf8')
  const names = lines.flatMap(line => /^# TYPE (\S+)/.exec(line)?.[1] ?? [])
  const helped = new Set(lines.flatMap(line => /^# HELP (\S+) .{15,}\.$/.exec(line)?.[1] ?? []))

  expect(names.length).toBeGreaterThan(40)
  expect(names.filter(name => !helped.has(name))).toEqual([])
  expect(names.filter(name => !described.includes(`\`${name}`))).toEqual([])
})
