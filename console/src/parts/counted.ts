/** `1 line`, and `2 lines` or `0 lines`. */
export function counted(count: string | number, one: string, many = `${one}s`): string {
  return `${count} ${String(count) === '1' ? one : many}`
}
