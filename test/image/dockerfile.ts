/** One instruction of a Dockerfile, such as `RUN` with the rest of its lines. */
export type Instruction = { readonly name: string; readonly text: string }

/** One stage: what follows a `FROM`. */
export type Stage = {
  readonly image: string
  /** Undefined for a stage without `AS`. */
  readonly name: string | undefined
  readonly instructions: readonly Instruction[]
}

/** Reads the forms of instructions that our Dockerfile uses. Throws for a first instruction that is not `FROM`. */
export function parseDockerfile(source: string): readonly Stage[] {
  const lines = source
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .filter(line => line.trim() !== '')
  const stages: { image: string; name: string | undefined; instructions: Instruction[] }[] = []
  for (const line of lines) {
    const [name = '', ...rest] = line.trim().split(/\s+/)
    if (name === 'FROM') {
      const [image = '', , stageName] = rest
      stages.push({ image, name: stageName, instructions: [] })
      continue
    }
    const stage = stages.at(-1)
    if (stage === undefined) throw new Error(`A Dockerfile begins with FROM, not with ${name}.`)
    stage.instructions.push({ name, text: line.trim().slice(name.length).trim() })
  }
  return stages
}

/** The variables of an `ENV`. Their values have no blanks. */
export function variablesOf({ text }: Instruction): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text.split(/\s+/).map(pair => {
      const at = pair.indexOf('=')
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )
}

/** The command of an `ENTRYPOINT`, a `CMD` or a `HEALTHCHECK` in its JSON form. */
export function commandOf({ text }: Instruction): readonly string[] {
  return JSON.parse(text.slice(text.indexOf('['))) as string[]
}
