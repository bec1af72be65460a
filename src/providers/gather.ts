/** All that `next` gives until it gives undefined, in one; undefined as soon as it is more than `bytesMax`. */
export async function gather(
  next: () => Promise<Uint8Array | undefined>,
  bytesMax: number,
): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = []
  let length = 0
  for (let part = await next(); part !== undefined; part = await next()) {
    length += part.length
    if (length > bytesMax) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts, length)
}
